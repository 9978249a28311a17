/**
 * Forms. A JSON Schema gives one field for each property. The host validates the values, and `static/forms.js`
 * shows its errors at their fields.
 */
import type { JsonSchema } from '@org/core/authoring'
import { html } from 'hono/html'
import { at, isRecord, listOf } from '../world/json.ts'
import { type Html, hint, select } from './html.ts'

/**
 * A form that `static/forms.js` sends to an action. The name of a control is its path in the body. A change on the
 * page leaves it as it is.
 * @param send the action, the fixed part of its body, and the label of the button
 */
export function sendForm(
  { id, action, body = {}, button }: { id: string; action: string; body?: object; button: string },
  fields: unknown,
): Html {
  return html`<form id="${id}" data-action="${action}" data-body="${JSON.stringify(body)}" data-keep novalidate>
    ${fields}
    <div class="send row"><button class="button primary">${button}</button> <kbd>Ctrl ⏎</kbd><p class="fault form-fault" role="alert" hidden></p></div></form>`
}

/** A description with so few words repeats the label. */
const MOST_REPEATED = 5
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
  const shownWhen = JSON.stringify(Object.fromEntries(condition))
  const always = listOf(schema.required)
  // A field with a condition is hidden unless the condition holds, so it may say “required”, too.
  const sometimes = listOf(at(schema, 'then', 'required'))
  // Inputs have an order, arguments none.
  const order = ([, property]: [string, unknown]) => Number(at(property, 'order') ?? 0)
  const all = Object.entries({ ...propertiesOf(schema), ...conditional }).sort(
    (one, other) => order(one) - order(other),
  )
  const draw = ([name, property]: [string, unknown]) => {
    const initial = at(property, 'default')
    const isRequired = (always.includes(name) && initial === undefined) || sometimes.includes(name)
    return html`<div class="field" data-field="${name}" ${name in conditional && html`data-shown-when="${shownWhen}" hidden`}>
      ${fieldOf(`${path}.${name}`, name, property, values[name] ?? initial, isRequired)}</div>`
  }
  const isFirst = ([name]: [string, unknown]) => always.includes(name) || name in values || all.length <= FEW
  const first = all.filter(isFirst)
  const rest = all.filter((one) => !isFirst(one))
  return html`<div class="fields">${first.map(draw)}</div>
    ${rest.length > 0 && html`<details><summary>${rest.length} ${first.length > 0 ? 'more' : 'optional'} fields</summary><div class="fields">${rest.map(draw)}</div></details>`}
    ${all.length === 0 && hint('It has no fields.')}`
}

function propertiesOf(schema: unknown): Record<string, unknown> {
  const properties = at(schema, 'properties')
  return isRecord(properties) ? properties : {}
}

function fieldOf(path: string, name: string, schema: unknown, value: unknown, isRequired: boolean): Html {
  const kind = kindOf(name, schema)
  const id = path.replaceAll('.', '-')
  const title = String(at(schema, 'title') ?? sentenceCase(name))
  const note = { list: 'Separate several by commas.', json: 'As JSON.' }[String(kind)] ?? ''
  const description = String(at(schema, 'description') ?? '').replaceAll('`', '')
  const text = `${description.split(' ').length > MOST_REPEATED ? description : ''} ${note}`.trim()
  const attributes = html`id="${id}" name="${path}" data-kind="${kind}" aria-describedby="${id}-hint ${id}-fault"`
  return html`<label for="${id}">${title} <code>${name}</code>${isRequired && html` <span class="required">required</span>`}</label>${controlOf(kind, attributes, schema, value)}
    <p class="hint" id="${id}-hint">${text}</p><p class="fault" id="${id}-fault" hidden></p>`
}

/** `emailAddress` as “Email address”. */
function sentenceCase(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  const capitals = words.replace(/\bid\b/, 'ID').replace(/\bhtml\b/, 'HTML')
  return capitals.replace(/^./, (letter) => letter.toUpperCase())
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

type Choices = Parameters<typeof select>[1]

/** The values of an enum, each with its label. */
function choicesOf(schema: unknown): Choices {
  const labelled = listOf(at(schema, 'oneOf')).filter((one) => at(one, 'const') !== undefined)
  const pairs = labelled.map((one) => [at(one, 'const'), at(one, 'title')])
  const all = [...listOf(at(schema, 'enum')).map((value) => [value, value]), ...pairs]
  return all.map(([value, label]) => [String(value), String(label ?? value)])
}

const FLAG: Choices = [
  ['', 'not set'],
  ['true', 'yes'],
  ['false', 'no'],
]

function controlOf(kind: Kind, attributes: Html, schema: unknown, value: unknown): Html {
  const list = kind === 'list' && Array.isArray(value) ? value.join(', ') : value
  const initial = typeof list === 'string' ? list : (JSON.stringify(list, null, 2) ?? '')
  switch (kind) {
    case 'choice': {
      const none: Choices = at(schema, 'default') === undefined ? [['', '–']] : []
      return select(attributes, [...none, ...choicesOf(schema)], initial)
    }
    case 'boolean':
      return select(attributes, FLAG, initial)
    case 'files':
      return html`<input type="file" multiple ${attributes} data-content="${contentOf(schema)}">`
    case 'long':
    case 'json':
      return html`<textarea rows="4" spellcheck="false" ${attributes}>
${initial}</textarea>`
    default: {
      const type = kind === 'list' ? 'text' : kind
      // The browser keeps what a person typed, but no secret.
      const secret = kind === 'password' && html`autocomplete="off"`
      return html`<input type="${type}" step="any" spellcheck="false" ${secret} ${attributes} value="${initial}">`
    }
  }
}
