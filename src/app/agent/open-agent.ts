import { type Agent, createAgent } from '../../agent/create-agent.ts';
import type { Model } from '../../models/model.ts';
import type { App } from '../open-app.ts';

/** An agent with the app's tools, store and limits. */
export function openAgent(app: App, model: Model): Agent {
  const { loaded, executor, store, blobs, context, workspace, decisions } = app;
  const { maxTurns, maxTokens, maxCost, maxMinutes } = loaded.config;
  const reader = { callId: 'project-notes', session: 'project-notes', workingDir: context.workingDir, timeout: 10 };
  const files = workspace.files({ ...reader, signal: new AbortController().signal, admitted: null });
  return createAgent({
    model,
    executor,
    store,
    blobs,
    context,
    files,
    isAgreed: ({ path, digest }) => decisions.of(workspace.root, path).some((made) => made.digest === digest),
    budget: {
      turns: maxTurns,
      ...(maxTokens !== null && { tokens: maxTokens }),
      ...(maxCost !== null && { cost: maxCost }),
      ...(maxMinutes !== null && { seconds: maxMinutes * 60 }),
    },
  });
}
