import { lexer, type Token, type Tokens } from 'marked';
import { Fragment, type ReactNode, useMemo } from 'react';

/**
 * Markdown as elements, never as HTML: text from a model, a file or the web cannot become markup. HTML in it is shown
 * as text, pictures as links, and only plain web addresses can be followed.
 */
export function Markdown({ text }: { text: string }): ReactNode {
  const tokens = useMemo(() => tokensOf(text), [text]);
  return (
    <div className="markdown">{tokens === null ? <p className="whitespace-pre-wrap">{text}</p> : blocks(tokens)}</div>
  );
}

const MAX_DEPTH = 100;

/** Returns null for markdown nested deeper than MAX_DEPTH: it is shown as plain text. */
function tokensOf(text: string): readonly Token[] | null {
  try {
    const tokens: readonly Token[] = lexer(text);
    let level = tokens;
    for (let depth = 0; level.length > 0; depth++) {
      if (depth > MAX_DEPTH) return null;
      level = level.flatMap(childrenOf);
    }
    return tokens;
  } catch {
    // The lexer is recursive, so deeply nested text overflows its stack.
    return null;
  }
}

function childrenOf(token: Token): readonly Token[] {
  if (token.type === 'list') return (token as Tokens.List).items;
  if (token.type !== 'table') return 'tokens' in token ? (token.tokens ?? []) : [];
  const { header, rows } = token as Tokens.Table;
  return [header, ...rows].flat().flatMap(({ tokens }) => tokens);
}

function blocks(tokens: readonly Token[]): ReactNode {
  return tokens.map((token, index) => <Fragment key={index}>{block(token)}</Fragment>);
}

function block(token: Token): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading': {
      const Heading = `h${Math.min(6, (token as Tokens.Heading).depth + 2)}` as 'h3';
      return <Heading>{inline(token.tokens ?? [])}</Heading>;
    }
    case 'paragraph':
      return <p>{inline(token.tokens ?? [])}</p>;
    case 'text':
      return token.tokens ? inline(token.tokens) : token.raw;
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long block must be scrollable by keyboard
        <pre tabIndex={0}>
          <code>{(token as Tokens.Code).text}</code>
        </pre>
      );
    case 'blockquote':
      return <blockquote>{blocks(token.tokens ?? [])}</blockquote>;
    case 'list': {
      const list = token as Tokens.List;
      const items = list.items.map((item, index) => <li key={index}>{blocks(item.tokens)}</li>);
      return list.ordered ? <ol start={list.start === '' ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>;
    }
    case 'table':
      return table(token as Tokens.Table);
    case 'hr':
      return <hr />;
    default:
      return token.raw;
  }
}

function table({ header, rows }: Tokens.Table): ReactNode {
  return (
    <div className="overflow-x-auto">
      <table>
        <thead>
          <tr>
            {header.map((cell, index) => (
              <th key={index}>{inline(cell.tokens)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>{inline(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: readonly Token[]): ReactNode {
  return tokens.map((token, index) => <Fragment key={index}>{span(token)}</Fragment>);
}

function span(token: Token): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens ?? [])}</strong>;
    case 'em':
      return <em>{inline(token.tokens ?? [])}</em>;
    case 'del':
      return <del>{inline(token.tokens ?? [])}</del>;
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return link((token as Tokens.Link).href, inline(token.tokens ?? []));
    case 'image':
      return link((token as Tokens.Image).href, `🖼 ${(token as Tokens.Image).text}`);
    case 'escape':
    case 'text':
      return 'tokens' in token && token.tokens ? inline(token.tokens) : unescaped(token as Tokens.Text);
    default:
      return token.raw;
  }
}

function unescaped(token: Tokens.Text): string {
  return token.raw.replace(/^\\/, '') === token.text ? token.text : token.raw;
}

/** Links to the page's own origin are not made: a link in a text must not act like a button of the page. */
function link(href: string, shown: ReactNode): ReactNode {
  const url = URL.canParse(href) ? new URL(href) : null;
  const isWeb = url !== null && /^https?:$/.test(url.protocol) && url.origin !== location.origin && !isLocal(url);
  if (!isWeb) return <span title={href}>{shown}</span>;
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer nofollow" title={url.href}>
      {shown}
    </a>
  );
}

function isLocal({ hostname }: URL): boolean {
  return /^(localhost|127\.|0\.|\[)/.test(hostname) || hostname.endsWith('.localhost');
}
