import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A bare page from the same server, to compare costs with: a box to write in, and every message and
 * every piece of output appended as plain text.
 */
export function pagesWithPeer(built: string): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'bench-pages-'));
  cpSync(built, folder, { recursive: true });
  writeFileSync(join(folder, 'bare.html'), BARE_PAGE);
  writeFileSync(join(folder, 'bare.js'), BARE_SCRIPT);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const BARE_PAGE = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>bare</title><link rel="icon" href="/icon.svg"></head>
  <body>
    <textarea id="composer"></textarea>
    <div role="log"></div>
    <pre data-live></pre>
    <script type="module" src="/bare.js"></script>
  </body>
</html>
`;

const BARE_SCRIPT = `
const given = new URLSearchParams(location.hash.slice(1));
const headers = { authorization: 'Bearer ' + given.get('token') };
const [log, live] = [document.querySelector('[role=log]'), document.querySelector('[data-live]')];
const session = given.get('session');
if (session !== null) {
  for (let after = 0; ; ) {
    const answer = await fetch('/v1/sessions/' + session + '/events?limit=1000&after=' + after, { headers });
    const { items } = await answer.json();
    for (const { type, data, seq } of items) {
      after = seq;
      if (type !== 'message.added') continue;
      const line = document.createElement('div');
      line.textContent = data.text;
      log.append(line);
    }
    if (items.length < 1000) break;
  }
  const { body } = await fetch('/v1/events', { headers });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let pending = ''; ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    const blocks = (pending + value).split('\\n\\n');
    pending = blocks.pop();
    for (const block of blocks) {
      const text = block.split('\\n').filter((line) => line.startsWith('data:')).map((line) => line.slice(5)).join('');
      if (text === '') continue;
      const { type, data } = JSON.parse(text);
      if (type === 'call.progressed') live.append(data.output ?? '');
      if (type === 'call.finished') log.append('Done');
    }
  }
}
`;
