import { defineConfig } from 'tsdown';

/** Failpoints are for tests: a build has none. */
const common = {
  format: 'esm',
  platform: 'node',
  target: 'node22.19',
  define: { TOOLWRIGHT_RELEASE: 'true' },
  fixedExtension: false,
} as const;

/** Many small files each, of which a command needs a part: reading them one by one is most of the time of a short command. */
const IN_THE_COMMAND_LINE =
  /^(kysely|zod|ajv|ajv-formats|fast-uri|fast-deep-equal|json-schema-traverse|diff|unbash|commander|chardet|htmlparser2|domutils|domhandler|domelementtype|dom-serializer|entities|@modelcontextprotocol\/|eventsource|@anthropic-ai\/sdk|openai|@opentelemetry\/api|standardwebhooks|@stablelib|fast-sha256)/;

export default defineConfig([
  {
    ...common,
    entry: {
      index: 'src/index.ts',
      langchain: 'src/schema/langchain.ts',
      'ai-sdk': 'src/schema/ai-sdk.ts',
      openai: 'src/schema/openai.ts',
      anthropic: 'src/schema/anthropic.ts',
      testing: 'src/testing/exports.ts',
    },
    dts: true,
    clean: true,
  },
  {
    ...common,
    entry: { cli: 'src/cli/main.ts' },
    dts: false,
    clean: false,
    minify: true,
    define: { ...common.define, TOOLWRIGHT_SCHEMAS_TESTED: 'true' },
    deps: { alwaysBundle: IN_THE_COMMAND_LINE },
    outputOptions: { chunkFileNames: 'cli-[name]-[hash].js' },
  },
]);
