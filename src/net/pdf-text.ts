import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { messageOf } from '../kernel/error.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { PdfText } from '../kernel/world/web.ts';

const MAX_MS = 20_000;
const MAX_PAGES = 500;
const MAX_CHARACTERS = 5_000_000;
const HEAP_MB = 256;
const GROWTH_BYTES = 512 * 1024 * 1024;
const LOOK_MS = 50;

/**
 * Code of the worker thread. It is plain JavaScript in a string, so that it starts the same from sources and from the
 * built package.
 */
const READER = `
const { parentPort, workerData } = require('node:worker_threads');
(async () => {
  const { getDocumentProxy } = await import(workerData.unpdf);
  const pdf = await getDocumentProxy(workerData.bytes, { isEvalSupported: false, verbosity: 0 });
  const pages = [];
  let length = 0;
  for (let number = 1; number <= pdf.numPages && number <= workerData.mostPages && length < workerData.maxCharacters; number++) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const text = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\\n' : '') : '')).join('');
    length += text.length;
    pages.push(text);
    page.cleanup();
  }
  parentPort.postMessage({ pages, total: pdf.numPages });
})().catch((error) => parentPort.postMessage({ problem: String(error && error.message || error).slice(0, 300) }));
`;

/**
 * Extracts the text in a worker thread, which is ended when it takes too long or too much memory: a PDF is a program
 * for a large interpreter.
 */
export function pdfText(bytes: Uint8Array, signal: AbortSignal): Promise<Result<PdfText>> {
  return new Promise((resolve) => {
    const unpdf = pathToFileURL(createRequire(import.meta.url).resolve('unpdf')).href;
    const workerData = { unpdf, bytes: new Uint8Array(bytes), mostPages: MAX_PAGES, maxCharacters: MAX_CHARACTERS };
    const worker = new Worker(READER, {
      eval: true,
      workerData,
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    const before = process.memoryUsage.rss();
    const timer = setTimeout(() => end(unreadable(`reading it takes longer than ${MAX_MS / 1000} s`)), MAX_MS);
    const watch = setInterval(() => {
      if (process.memoryUsage.rss() - before > GROWTH_BYTES) end(unreadable('reading it takes too much memory'));
    }, LOOK_MS);
    const onAbort = () => end(fail('CANCELLED', 'Reading the PDF was cancelled.'));

    function end(result: Result<PdfText>): void {
      clearTimeout(timer);
      clearInterval(watch);
      signal.removeEventListener('abort', onAbort);
      worker.terminate().catch(() => {});
      resolve(result);
    }

    signal.addEventListener('abort', onAbort, { once: true });
    worker.once('message', (answer: PdfText | { problem: string }) =>
      end('pages' in answer ? ok(answer) : unreadable(answer.problem)),
    );
    worker.once('error', (error) => end(unreadable(messageOf(error))));
    worker.once('exit', () => end(unreadable('its reader ended early')));
    if (signal.aborted) onAbort();
  });
}

function unreadable(why: string): Result<never> {
  return fail('INVALID_INPUT', `The PDF cannot be read: ${why}.`);
}
