import { describe, expect, test } from 'vitest';
import { isHidingStyle } from './hiding-style.ts';

describe('a style', () => {
  test.each([
    'display:none',
    'color:red; DISPLAY : NONE !important',
    'd\\69splay:none',
    'display/**/:/**/none',
    'visibility: hidden',
    'opacity:0',
    'opacity: .01',
    'font-size:0',
    'font-size: 1px',
    'font: 0/0 a',
    'position:absolute;left:-9999px',
    'text-indent:-100%',
    'margin-left:-99999px',
    'clip: rect(1px, 1px, 1px, 1px)',
    'clip:rect(0 0 0 0)',
    'clip-path: inset(50%)',
    'transform: scale(0)',
    'overflow:hidden;height:0',
    'width:1px;overflow:hidden',
    'color:#fff;background:white',
    'background-color:#FFFFFF; color: rgb(255, 255, 255)',
    'color: transparent',
    'color:#ffffff00',
    'color: rgba(0,0,0,0)',
    'color: rgb(0 0 0 / .0% )',
    'color: hsla(0,0,0, 0.00 )',
  ])('"%s" hides its text', (style) => {
    expect(isHidingStyle(style)).toBe(true);
  });

  test.each([
    '',
    'color:red',
    'display:block;opacity:0.9',
    'opacity:1',
    'font-size:0.9em',
    'font-size:10px',
    'font: 12px/1.5 serif',
    'left:50%;margin-left:-250px',
    'clip:rect(0,100px,100px,0)',
    'height:0;overflow:visible',
    'overflow:hidden;height:100px',
    'color:#fff;background:#000',
    'color:rgba(0,0,0,0.8)',
    'color:#ff0000',
    'display:none;display:block',
  ])('"%s" does not', (style) => {
    expect(isHidingStyle(style)).toBe(false);
  });

  test('with many blanks takes no longer than its length asks for', () => {
    const started = performance.now();
    expect(isHidingStyle(`color:rgb(,${' '.repeat(1_000_000)}x`)).toBe(false);
    expect(performance.now() - started).toBeLessThan(3_000);
  });
});
