import { EditorState, type Extension } from '@codemirror/state';
import { language } from '../words/words.ts';

const ZH = {
  Find: '查找',
  Replace: '替换',
  next: '下一个',
  previous: '上一个',
  all: '全部',
  replace: '替换',
  'replace all': '全部替换',
  'match case': '区分大小写',
  regexp: '正则',
  'by word': '整词',
  close: '关闭',
  Accept: '采用',
  Reject: '不采用',
  '$ unchanged lines': '$ 行未改动',
};

/** Translates the editor's built-in texts into the language of the page. */
export function editorPhrases(): Extension {
  return language.get() === 'zh' ? EditorState.phrases.of(ZH) : [];
}
