/**
 * Forms. A JSON Schema gives one field for each property. The host validates the values, and `static/forms.js`
 * shows its errors at their fields.
 */
import type { JsonSchema } from '@org/core/authoring'
import { html } from 'hono/html'
import { at, isRecord, listOf } from '../world/json.ts'
import { type Html, hint, options } from './html.ts'

/**
 * A form that `static/forms.js` sends to an action. The name of a control is its path in the body. A change on the
 * page leaves it as it is.
 * @param send the action, the fixed part of its body, and the label of the button
 */
export function sendForm(
  { id, action, body = {}, button }: { id: string; action: string; body?: object; button: string },
  fields: unknown,
): Html {
  return html`<form id="${id}" data-action="${action}" data-body="${JSON.stringify(body)}" data-target="follow" data-keep novalidate>
    ${fields}
    <div class="send row"><button class="button primary">${button}</button> <kbd>Ctrl ⏎</kbd><p class="fault form-fault" role="alert" hidden></p></div></form>`
}

/** So many fields are never folded. */
const FEW = 6

/**
 * The fields of an object. A long rest without values is folded.
 * @param path of the object in the body of the action
 * @param values the initial ones
 */
export function schemaFields(schema: JsonSchema, path: string, values: Record<string, unknown> = {}): Html {
  const conditional = propertiesOf(at(schema, 'then'))
  const condition = Object.entries(propertiesOf(at(schema, 'if'))).map(([name, expected]) => [
    `${path}.${name}`,
    String(at(expected, 'const')),
  ])
  const all = Object.entries({ ...propertiesOf(schema), ...conditional }).sort(byOrder)
  const always = listOf(schema.required)
  // A field with a condition is hidden unless the condition holds, so it may say “required”, too.
  const sometimes = listOf(at(schema, 'then', 'required'))
  const fields = all.map(([name, property]) => {
    const initial = at(property, 'default')
    const required = (always.includes(name) && initial === undefined) || sometimes.includes(name)
    const shownWhen = name in conditional ? JSON.stringify(Object.fromEntries(condition)) : undefined
    return {
      important: always.includes(name) || name in values || all.length <= FEW,
      field: fieldOf(`${path}.${name}`, name, property, {
        value: values[name] ?? initial,
        required,
        shownWhen,
      }),
    }
  })
  const { first = [], rest = [] } = Object.groupBy(fields, ({ important }) => (important ? 'first' : 'rest'))
  const draw = (some: typeof fields) => html`<div class="fields">${some.map(({ field }) => field)}</div>`
  return html`${draw(first)}
    ${rest.length > 0 && html`<details><summary>${rest.length} ${first.length > 0 ? 'more' : 'optional'} fields</summary>${draw(rest)}</details>`}
    ${all.length === 0 && hint('It has no fields.')}`
}

function propertiesOf(schema: unknown): Record<string, unknown> {
  const properties = at(schema, 'properties')
  return isRecord(properties) ? properties : {}
}

/** Inputs have an order, arguments none. */
function byOrder([, one]: [string, unknown], [, other]: [string, unknown]): number {
  return Number(at(one, 'order') ?? 0) - Number(at(other, 'order') ?? 0)
}

type Shown = { value: unknown; required: boolean; shownWhen: string | undefined }

function fieldOf(path: string, name: string, schema: unknown, { value, required, shownWhen }: Shown): Html {
  const id = path.replaceAll('.', '-')
  const kind = kindOf(name, schema)
  const title = String(at(schema, 'title') ?? sentenceCase(name))
  const note = { list: 'Separate several by commas.', json: 'As JSON.' }[String(kind)] ?? ''
  const text = `${newsIn(String(at(schema, 'description') ?? ''), title)} ${note}`.trim()
  const attributes = html`id="${id}" name="${path}" data-kind="${kind}" aria-describedby="${id}-hint ${id}-fault"`
  return html`<div class="field" data-field="${name}" ${shownWhen && html`data-shown-when="${shownWhen}" hidden`}>
    <label for="${id}">${title} <code class="api-name">${name}</code>${required && html` <span class="required">required</span>`}</label>${controlOf(kind, attributes, schema, value)}
    <p class="hint" id="${id}-hint">${text}</p><p class="fault" id="${id}-fault" hidden></p></div>`
}

/** `emailAddress` as “Email address”. */
function sentenceCase(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  const capitals = words.replace(/\bid\b/, 'ID').replace(/\bhtml\b/, 'HTML')
  return capitals.replace(/^./, (letter) => letter.toUpperCase())
}

/** The sentences of a description that say more than the label. Descriptions are Markdown with `code`. */
function newsIn(description: string, title: string): string {
  const known = new Set(`${title} the a an of as its in line plain is`.toLowerCase().split(' '))
  const isNew = (sentence: string) =>
    (sentence.toLowerCase().match(/[\w’]+/g) ?? []).some((word) => !known.has(word))
  return description
    .replaceAll('`', '')
    .split(/(?<=\.) (?=[A-Z])/)
    .filter(isNew)
    .join(' ')
}

type Kind = 'text' | 'long' | 'password' | 'number' | 'boolean' | 'choice' | 'list' | 'files' | 'json'

function kindOf(name: string, schema: unknown): Kind {
  if (choicesOf(schema).length > 0) return 'choice'
  if (at(schema, 'writeOnly') === true) return 'password'
  const types = [schema, ...listOf(at(schema, 'anyOf'))].flatMap((one) => at(one, 'type'))
  if (types.includes('array')) {
    if (contentOf(schema)) return 'files'
    return types.includes('string') || at(schema, 'items', 'type') === 'string' ? 'list' : 'json'
  }
  if (types.includes('string')) return /body$/i.test(name) ? 'long' : 'text'
  if (types.includes('boolean')) return 'boolean'
  return types.includes('integer') || types.includes('number') ? 'number' : 'json'
}

/** The field with the content, in a list of files. */
function contentOf(schema: unknown): string | undefined {
  const fields = Object.entries(propertiesOf(at(schema, 'items')))
  return fields.find(([, property]) => at(property, 'contentEncoding') === 'base64')?.[0]
}

/** The values of an enum, each with its label. */
function choicesOf(schema: unknown): (readonly [value: string, label: string])[] {
  const labelled = listOf(at(schema, 'oneOf')).filter((one) => at(one, 'const') !== undefined)
  const pairs = labelled.map((one) => [at(one, 'const'), at(one, 'title')])
  const all = [...listOf(at(schema, 'enum')).map((value) => [value, value]), ...pairs]
  return all.map(([value, label]) => [String(value), String(label ?? value)])
}

const FLAG = [
  ['', 'not set'],
  ['true', 'yes'],
  ['false', 'no'],
] as const

function controlOf(kind: Kind, attributes: Html, schema: unknown, value: unknown): Html {
  const list = kind === 'list' && Array.isArray(value) ? value.join(', ') : value
  const initial = typeof list === 'string' ? list : (JSON.stringify(list, null, 2) ?? '')
  const none = at(schema, 'default') === undefined ? [['', '–'] as const] : []
  switch (kind) {
    case 'choice':
      return html`<select ${attributes}>${options([...none, ...choicesOf(schema)], initial)}</select>`
    case 'boolean':
      return html`<select ${attributes}>${options(FLAG, initial)}</select>`
    case 'files':
      return html`<input type="file" multiple ${attributes} data-content="${contentOf(schema)}">`
    case 'long':
    case 'json':
      return html`<textarea rows="4" spellcheck="false" ${attributes}>
${initial}</textarea>`
    case 'password':
      return html`<input type="password" autocomplete="off" ${attributes} value="${initial}">`
    default:
      return html`<input type="${kind === 'list' ? 'text' : kind}" step="any" spellcheck="false" ${attributes} value="${initial}">`
  }
}
