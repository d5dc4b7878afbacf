import { defineConfig } from 'tsdown';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    cli: 'src/cli/main.ts',
    langchain: 'src/schema/langchain.ts',
    'ai-sdk': 'src/schema/ai-sdk.ts',
    openai: 'src/schema/openai.ts',
    anthropic: 'src/schema/anthropic.ts',
    testing: 'src/testing/exports.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: true,
  // Failpoints are for tests: a build has none.
  define: { TOOLWRIGHT_RELEASE: 'true' },
  clean: true,
  fixedExtension: false,
});
