import type { Backend } from './backend.ts';
import type { Credentials } from './credentials.ts';
import type { EventStreams } from './event-streams.ts';
import type { OpenAnswers } from './open-answers.ts';

export interface ApiParts {
  readonly backend: Backend;
  readonly credentials: Credentials;
  readonly streams: EventStreams;
  readonly open: OpenAnswers;
  readonly isStopping: () => boolean;
  /** The folder of the web app, where it was built. */
  readonly pages?: string | undefined;
}
