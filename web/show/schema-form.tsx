import { type ReactNode, useId, useRef } from 'react';
import { useWords } from '../words/words.ts';
import { countRows, JsonField } from './json-field.tsx';

export interface FormSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly items?: FormSchema;
  readonly properties?: Readonly<Record<string, FormSchema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly FormSchema[];
  readonly oneOf?: readonly FormSchema[];
}

export type FormValues = Record<string, unknown>;

/**
 * A form for the arguments of any tool. An optional argument that was never touched is not sent. After `onBroken(true)`
 * some field does not parse, and `values` differ from the text in the form.
 */
export function SchemaForm({
  schema,
  values,
  onChange,
  onBroken,
}: {
  schema: FormSchema;
  values: FormValues;
  onChange: (values: FormValues) => void;
  onBroken: (broken: boolean) => void;
}): ReactNode {
  const names = Object.keys(schema.properties ?? {});
  const set = (name: string, value: unknown) => {
    const next = { ...values };
    if (value === undefined) delete next[name];
    else next[name] = value;
    onChange(next);
  };
  const { current: broken } = useRef(new Set<string>());
  const note = (name: string, isBroken: boolean) => {
    if (isBroken) broken.add(name);
    else broken.delete(name);
    onBroken(broken.size > 0);
  };
  return (
    <div className="flex flex-col gap-3">
      {names.map((name) => (
        <Field
          key={name}
          name={name}
          schema={schema.properties?.[name] ?? {}}
          required={schema.required?.includes(name) ?? false}
          value={values[name]}
          onChange={(value) => set(name, value)}
          onBroken={(isBroken) => note(name, isBroken)}
        />
      ))}
    </div>
  );
}

interface FieldProps {
  name: string;
  schema: FormSchema;
  required: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
  onBroken: (broken: boolean) => void;
}

function Field(props: FieldProps): ReactNode {
  const say = useWords();
  const id = useId();
  const { name, schema, required } = props;
  return (
    <div>
      <label htmlFor={id} className="font-mono text-sm">
        {name} <span className="font-sans text-soft text-xs">{say(required ? 'required' : 'optional')}</span>
      </label>
      <Input {...props} id={id} />
      {schema.description !== undefined && (
        <p id={`${id}-about`} className="text-soft text-xs">
          {schema.description}
        </p>
      )}
    </div>
  );
}

function Input({ id, schema, required, value, onChange, onBroken }: FieldProps & { id: string }): ReactNode {
  const say = useWords();
  const about = schema.description === undefined ? {} : { 'aria-describedby': `${id}-about` };
  const kind = kindOf(schema);
  if (kind === 'choice') {
    return (
      <select
        id={id}
        {...about}
        className="field"
        value={value === undefined ? '' : JSON.stringify(value)}
        onChange={({ target }) => onChange(target.value === '' ? undefined : JSON.parse(target.value))}
      >
        <option value="">{say('notSet')}</option>
        {choicesOf(schema).map((choice) => (
          <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
            {String(choice)}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'number') {
    return (
      <input
        id={id}
        {...about}
        type="number"
        step="any"
        className="field"
        value={typeof value === 'number' ? value : ''}
        onChange={({ target }) => {
          onChange(target.value === '' ? undefined : target.valueAsNumber);
          onBroken(target.validity.badInput);
        }}
      />
    );
  }
  if (kind === 'text') {
    const text = typeof value === 'string' ? value : '';
    return (
      <textarea
        id={id}
        {...about}
        rows={Math.min(16, countRows(text))}
        spellCheck={false}
        className="field code"
        value={text}
        onChange={({ target }) => onChange(target.value === '' && !required ? undefined : target.value)}
      />
    );
  }
  return <JsonField id={id} value={value} orText={mayBeText(schema)} onChange={onChange} onBroken={onBroken} />;
}

function kindOf(schema: FormSchema): 'choice' | 'number' | 'text' | 'json' {
  if (schema.enum !== undefined || schema.type === 'boolean') return 'choice';
  if (schema.type === 'number' || schema.type === 'integer') return 'number';
  return schema.type === 'string' ? 'text' : 'json';
}

function mayBeText({ type, anyOf = [], oneOf = [] }: FormSchema): boolean {
  return [type, ...[...anyOf, ...oneOf].map((one) => one.type)].flat().includes('string');
}

function choicesOf(schema: FormSchema): readonly unknown[] {
  return schema.enum ?? [true, false];
}
