import { oneLine } from '../text/visible.ts';
import type { Access, DataOrigin } from '../tool/access.ts';
import type { VerdictPart } from './approval.ts';
import type { EventData, LogEvent } from './event.ts';

/** The data that came into a session so far, with the calls that brought it, and where a person agreed to send. */
export interface SessionFlow {
  /** The latest sources, such as `src/a.ts (read_file)`. Empty: no such data has come in. */
  readonly private: readonly string[];
  readonly untrusted: readonly string[];
  /** The questions about the flow that a person approved, by `VerdictPart.what`. */
  readonly agreed: readonly string[];
}

/** The rule behind a question about data that may leave the session for a place that a yes agrees to until it ends. */
export const DATA_FLOW = 'data flow';
/** The same for a command: nobody knows all that it reaches, so a yes is for this call alone. */
export const COMMAND_FLOW = 'data flow of a command';
export const FLOW_RULES: ReadonlySet<string> = new Set([DATA_FLOW, COMMAND_FLOW]);

export const NO_FLOW: SessionFlow = { private: [], untrusted: [], agreed: [] };

/** Part of the log is gone, so anything may have come in. */
export const FORGOTTEN_FLOW: SessionFlow = {
  private: ['what is no longer recorded'],
  untrusted: ['what is no longer recorded'],
  agreed: [],
};

/** Questions about the flow that have no answer yet, by their id. */
export type OpenFlowQuestions = Map<string, readonly string[]>;

/** Returns the flow after an event of the session. A call counts from its start, whatever it returned. */
export function flowAfter(
  flow: SessionFlow,
  event: Pick<LogEvent, 'type' | 'data'>,
  open: OpenFlowQuestions,
): SessionFlow {
  switch (event.type) {
    case 'call.started':
      return afterStart(flow, event.data as EventData['call.started']);
    case 'run.started': {
      const { unfamiliar = [] } = event.data as EventData['run.started'];
      const notes = unfamiliar.map((path) => `${shorten(path)}, to which nobody has agreed (toolwright paths agree)`);
      return { ...flow, untrusted: latest(flow.untrusted, notes) };
    }
    case 'approval.requested': {
      const { approvalId, shown } = event.data as EventData['approval.requested'];
      const asked = destinationsIn(shown?.verdicts);
      if (asked.length > 0) open.set(approvalId, asked);
      return flow;
    }
    case 'approval.decided': {
      const { approvalId, approved, changed, shown } = event.data as EventData['approval.decided'];
      const asked = changed === undefined ? open.get(approvalId) : destinationsIn(shown?.verdicts);
      open.delete(approvalId);
      return approved && asked !== undefined ? { ...flow, agreed: [...new Set([...flow.agreed, ...asked])] } : flow;
    }
    default:
      return flow;
  }
}

function destinationsIn(verdicts: readonly VerdictPart[] = []): string[] {
  return verdicts.filter(({ rule, verdict }) => rule === DATA_FLOW && verdict === 'ask').map(({ what }) => what);
}

function afterStart(flow: SessionFlow, { tool, access, brings = [] }: EventData['call.started']): SessionFlow {
  const sources: Record<DataOrigin, string[]> = { private: [], untrusted: [] };
  for (const origin of brings) sources[origin].push(`what ${tool} returned`);
  for (const each of access) {
    const source = sourceOf(each);
    if (source !== undefined) sources[source.origin].push(`${shorten(source.name)} (${tool})`);
  }
  if (sources.private.length === 0 && sources.untrusted.length === 0) return flow;
  return {
    private: latest(flow.private, sources.private),
    untrusted: latest(flow.untrusted, sources.untrusted),
    agreed: flow.agreed,
  };
}

function sourceOf(access: Access): { origin: DataOrigin; name: string } | undefined {
  switch (access.kind) {
    case 'fs.read':
      return { origin: 'private', name: access.path };
    case 'process.run':
      return { origin: 'private', name: `the output of ${access.command}` };
    case 'net.fetch':
      return { origin: 'untrusted', name: access.url };
    case 'net.search':
      return { origin: 'untrusted', name: `a search for ${access.query}` };
    default:
      return undefined;
  }
}

const MAX_SOURCES = 3;
const MAX_NAME_CHARS = 100;

function latest(before: readonly string[], more: readonly string[]): readonly string[] {
  if (more.length === 0) return before;
  return [...new Set([...more.toReversed(), ...before])].slice(0, MAX_SOURCES);
}

function shorten(name: string): string {
  const line = oneLine(name.slice(0, 2 * MAX_NAME_CHARS));
  return line.length > MAX_NAME_CHARS ? `${line.slice(0, MAX_NAME_CHARS)}…` : line;
}
