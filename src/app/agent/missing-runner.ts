import type { SessionRunner } from '../../http/backend.ts';
import { fail } from '../../kernel/result.ts';

const NO_MODEL = fail(
  'NOT_CONFIGURED',
  'No model is configured. Run tools yourself with POST /v1/calls, or configure a model and start again.',
);

/** Manual mode: a person drives the tools. */
export const missingRunner: SessionRunner = {
  models: () => ({ current: null, choices: [] }),
  choose: async () => NO_MODEL,
  saveKey: async () => NO_MODEL,
  send: async () => NO_MODEL,
  stop: async () => NO_MODEL,
  mayPlayDemo: () => NO_MODEL,
  demo: async () => NO_MODEL,
  running: () => false,
  takeUp() {},
  pause() {},
};
