import { createFilePolicy } from '../../src/kernel/world/file-policy.ts';
import { judgeSecretFile } from '../../src/secrets/judge-secret-file.ts';
import { harmlessFiles } from './harmless-files.ts';
import { type CorpusFile, secretFiles } from './secret-files.ts';

/** Judges every file of the corpus as file tools do, by its content and its name. */
export function judgeCorpus() {
  const policy = createFilePolicy();
  const isRefused = ({ path, content }: CorpusFile): boolean =>
    judgeSecretFile(policy, path, Buffer.from(content)) !== null;
  const [secret, harmless] = [secretFiles(), harmlessFiles()];
  return {
    secret: secret.length,
    harmless: harmless.length,
    missed: secret.filter((file) => !isRefused(file)).map(({ path }) => path),
    refused: harmless.filter(isRefused).map(({ path }) => path),
  };
}
