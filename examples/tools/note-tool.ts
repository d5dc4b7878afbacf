import { BaseTool, type ParameterValues, ToolParameter, ToolResult } from 'toolwright';

/** The class way to write a tool: a list of parameters and `run`. It keeps notes in memory and asks before it overwrites. */
export class NoteTool extends BaseTool {
  readonly name = 'write_note';
  readonly description = 'Write a note under a title. Overwriting an older note needs a person’s yes.';
  readonly parameters = [
    new ToolParameter({ name: 'title', type: 'string', description: 'Title of the note', minLength: 1, maxLength: 80 }),
    new ToolParameter({ name: 'text', type: 'string', description: 'What to write', aliases: ['content'] }),
  ];

  readonly notes = new Map<string, string>();

  protected override approval({ title }: ParameterValues) {
    return this.notes.has(String(title)) ? `The note "${title}" exists and would be overwritten.` : undefined;
  }

  protected override summary({ title }: ParameterValues) {
    return `Write the note "${title}"`;
  }

  protected run({ title, text }: ParameterValues) {
    this.notes.set(String(title), String(text));
    return ToolResult.ok(`Wrote "${title}".`, { characters: String(text).length });
  }
}
