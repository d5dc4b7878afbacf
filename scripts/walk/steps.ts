/** A main step of a call. Its file is the one where all of its functions ran, wherever that file lives. */
export interface Step {
  readonly functions: readonly string[];
  readonly task: string;
}

/** `POST /v1/calls` with `wait`, for a tool that is allowed and a file that is there. */
export const STEPS: readonly Step[] = [
  { functions: ['rejectForeign'], task: 'refuse foreign hosts and origins' },
  { functions: ['serveOperation', 'checkQuery', 'checkBody'], task: 'check the token, its role and the request' },
  { functions: ['readBody', 'isTooDeep'], task: 'read the body within its bounds' },
  { functions: ['startCall', 'start', 'contextFor'], task: 'find the session and the workspace' },
  { functions: ['execute', '#run', 'contextFrom'], task: 'take the call in, as from any program' },
  {
    functions: ['executeCall', 'find', 'readArguments', 'recordRequest'],
    task: 'run the pipeline; catch all that is thrown',
  },
  {
    functions: ['admit', 'propose', 'validate', 'admitPlanned'],
    task: 'validate; run, ask or refuse by the verdict',
  },
  { functions: ['judgeCall', 'askPolicy', 'planned'], task: 'plan the call or name the files touched, ask the policy' },
  { functions: ['explain', 'judgeAccess'], task: 'judge each access by rules and mode' },
  {
    functions: ['runAdmitted', 'runInTurn', 'start', 'run'],
    task: 'wait for the turn, record the start, run',
  },
  { functions: ['run', 'asText', 'render'], task: 'the tool itself' },
  { functions: ['locate', 'refuses', 'isOwn'], task: 'refuse paths of secrets and of Toolwright' },
  { functions: ['walkPath', 'followed'], task: 'open each folder from the one before it' },
  { functions: ['readWindow', 'withFile'], task: 'open the file, check it, read it' },
  { functions: ['settle', 'conclude', 'executionOf', 'recordEnd'], task: 'bound the text, record the end' },
  { functions: ['record'], task: 'write to the store, then tell the listeners' },
  { functions: ['hiddenMove', 'hiddenEvent'], task: 'hide secrets in everything recorded' },
  { functions: ['submitCall', 'moveCall'], task: 'turn each step of the call into rows' },
  { functions: ['#commit'], task: 'commit them in one transaction' },
  { functions: ['ended', 'withResult', 'answer'], task: 'answer the caller' },
];
