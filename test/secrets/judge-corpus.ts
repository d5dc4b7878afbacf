import { createFilePolicy } from '../../src/kernel/world/file-policy.ts';
import { secretIn } from '../../src/secrets/secret-in-file.ts';
import { harmlessFiles } from './harmless-files.ts';
import { type CorpusFile, secretFiles } from './secret-files.ts';

/** Judges every file of the corpus as file tools do: by its name, then by its content. */
export function judgeCorpus() {
  const policy = createFilePolicy();
  const isRefused = ({ path, content }: CorpusFile): boolean =>
    policy.judge(path).access === 'hidden' || secretIn(path, Buffer.from(content)) !== undefined;
  const [secret, harmless] = [secretFiles(), harmlessFiles()];
  return {
    secret: secret.length,
    harmless: harmless.length,
    missed: secret.filter((file) => !isRefused(file)).map(({ path }) => path),
    refused: harmless.filter(isRefused).map(({ path }) => path),
  };
}
