/**
 * Lists violations of the providers' documented rules in a conversation, which a lenient mock would hide: order,
 * pairing,
 * names and characters.
 */
export function historyProblems(path: string, body: unknown): string[] {
  const fields = body as WireFields;
  const halves = halfCharacters(body);
  if (path.endsWith('/messages')) return [...anthropicProblems(fields), ...halves];
  if (path.endsWith('/chat/completions')) return [...chatProblems(fields), ...halves];
  return [...responsesProblems(fields), ...halves];
}

type WireFields = Record<string, unknown>;

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function halfCharacters(value: unknown): string[] {
  if (typeof value === 'string') return value.isWellFormed() ? [] : [`half a character in ${JSON.stringify(value)}`];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [...halfCharacters(key), ...halfCharacters(inner)]);
}

/** Checks that arguments are a JSON object of whole characters. */
function argumentProblems(text: string): string[] {
  return halfCharacters(JSON.parse(text));
}

function anthropicProblems({ messages }: WireFields): string[] {
  const problems: string[] = [];
  const turns = messages as { role: string; content: string | WireFields[] }[];
  const ids = new Set<string>();
  let open: string[] = [];
  if (turns[0]?.role !== 'user') problems.push('the first message must be from the user');
  for (const [at, { role, content }] of turns.entries()) {
    const say = (problem: string) => problems.push(`messages.${at}: ${problem}`);
    if (role === turns[at - 1]?.role) say(`two messages of role ${role} in a row`);
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    if (blocks.length === 0) say('content is empty');
    for (const block of blocks) if (block.type === 'text' && String(block.text).trim() === '') say('a text is empty');
    if (role === 'user') {
      const results = blocks.filter(({ type }) => type === 'tool_result').map(({ tool_use_id: id }) => String(id));
      if (blocks.slice(0, results.length).some(({ type }) => type !== 'tool_result')) say('results must come first');
      if (results.join() !== open.join())
        say(`results of ${open.join() || 'nothing'} are due, found ${results.join() || 'none'}`);
      open = [];
      continue;
    }
    const calls = blocks.filter(({ type }) => type === 'tool_use');
    for (const { id, name, input } of calls) {
      if (!NAME.test(String(id))) say(`the id ${id} is not allowed`);
      if (!NAME.test(String(name))) say(`the name ${name} is not allowed`);
      if (ids.has(String(id)) || id === '') say(`the id ${id} is not unique`);
      ids.add(String(id));
      if (typeof input !== 'object' || input === null || Array.isArray(input)) say(`the input of ${id} is no object`);
    }
    const thinking = blocks.findLastIndex(({ type }) => type === 'thinking');
    if (thinking > blocks.findIndex(({ type }) => type === 'tool_use') && calls.length > 0)
      say('thinking after a call');
    for (const block of blocks)
      if (block.type === 'thinking' && !block.signature) say('thinking without its signature');
    const [last] = blocks.slice(-1);
    if (/thinking$/.test(String(last?.type)) && at < turns.length - 1) say('the final block cannot be thinking');
    open = calls.map(({ id }) => String(id));
  }
  return problems;
}

function chatProblems({ messages }: WireFields): string[] {
  const problems: string[] = [];
  const ids = new Set<string>();
  let open: string[] = [];
  for (const [at, message] of (messages as WireFields[]).entries()) {
    const say = (problem: string) => problems.push(`messages.${at}: ${problem}`);
    if (message.role === 'tool') {
      if (message.tool_call_id !== open.shift()) say(`a result of ${message.tool_call_id} is not due here`);
      if (typeof message.content !== 'string') say('a result must be text');
      continue;
    }
    if (open.length > 0) say(`results of ${open.join()} are missing`);
    const calls = (message.tool_calls ?? []) as { id: string; function: { name: string; arguments: string } }[];
    for (const { id, function: named } of calls) {
      if (ids.has(id) || id === '') say(`the id ${id} is not unique`);
      ids.add(id);
      if (!NAME.test(named.name)) say(`the name ${named.name} is not allowed`);
      for (const problem of argumentProblems(named.arguments)) say(problem);
    }
    open = calls.map(({ id }) => id);
  }
  if (open.length > 0) problems.push(`results of ${open.join()} are missing at the end`);
  return problems;
}

function responsesProblems({ input }: WireFields): string[] {
  const problems: string[] = [];
  const open = new Set<string>();
  const ids = new Set<string>();
  let answering = false;
  for (const [at, item] of (input as WireFields[]).entries()) {
    const say = (problem: string) => problems.push(`input.${at}: ${problem}`);
    const id = String(item.call_id);
    if (item.type === 'function_call') {
      if (ids.has(id)) say(`the id ${id} is not unique`);
      if (answering && open.size > 0) say(`outputs of ${[...open].join()} are missing`);
      if (!NAME.test(String(item.name))) say(`the name ${item.name} is not allowed`);
      if (id.length > 64) say(`the id ${id} is too long`);
      for (const problem of argumentProblems(String(item.arguments))) say(problem);
      ids.add(id);
      open.add(id);
      answering = false;
    } else if (item.type === 'function_call_output') {
      if (!open.delete(id)) say(`an output of ${id} is not due`);
      answering = true;
    } else if (item.role === 'user' && open.size > 0) say(`outputs of ${[...open].join()} are missing`);
  }
  if (open.size > 0) problems.push(`outputs of ${[...open].join()} are missing at the end`);
  return problems;
}
