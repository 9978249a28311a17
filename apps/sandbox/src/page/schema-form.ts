/**
 * Forms. A JSON Schema gives one field for each property. The host validates the values, and `static/forms.js`
 * shows its errors at their fields.
 */
import type { JsonSchema } from '@org/core/internal'
import { html } from 'hono/html'
import { at, isRecord, listOf } from '../world/json.ts'
import type { Html } from './html.ts'

/**
 * A form that `static/forms.js` sends to an action.
 *
 * @param options the action, the fixed part of its body, the path of the fields in the event, the element for the
 *   result, and the label of the button
 */
export function sendForm(
  options: { action: string; body?: object; path?: string; target?: string; button: string },
  fields: Html,
): Html {
  const { action, body = {}, path = '', target = '', button } = options
  return html`<form data-action="${action}" data-body="${JSON.stringify(body)}" data-path="${path}" data-target="${target}" novalidate>
    ${fields}
    <p class="fault form-fault" role="alert" hidden></p>
    <button class="button primary">${button}</button></form>`
}

/** So many fields are never folded. */
const FEW = 6

/**
 * The fields of an object. A long rest without values is folded.
 *
 * @param options a prefix for the ids, the initial values, and the names of the only fields to show
 */
export function schemaFields(
  schema: JsonSchema,
  {
    prefix,
    values = {},
    only,
  }: { prefix: string; values?: Readonly<Record<string, unknown>>; only?: readonly string[] },
): Html {
  const asked = propertiesOf(at(schema, 'then'))
  const all = Object.entries({ ...propertiesOf(schema), ...asked }).sort(byOrder)
  const shown = all.filter(([name]) => only?.includes(name) ?? true)
  const always = listOf(schema.required)
  // A field with a condition is hidden unless the condition holds, so it may say “required”, too.
  const sometimes = listOf(at(schema, 'then', 'required'))
  const fields = shown.map(([name, field]) => {
    const required = (always.includes(name) && at(field, 'default') === undefined) || sometimes.includes(name)
    return {
      important: always.includes(name) || name in values || shown.length <= FEW,
      html: fieldOf(
        {
          id: `${prefix}-${name}`,
          name,
          required,
          condition: name in asked ? at(schema, 'if', 'properties') : undefined,
        },
        field,
        values[name] ?? at(field, 'default'),
      ),
    }
  })
  const first = fields.filter(({ important }) => important).map(({ html }) => html)
  const rest = fields.filter(({ important }) => !important).map(({ html }) => html)
  return html`${first}
    ${rest.length > 0 ? html`<details class="more"><summary>${rest.length} ${first.length > 0 ? 'more' : 'optional'} fields</summary><div class="fields">${rest}</div></details>` : ''}
    ${shown.length === 0 ? html`<p class="hint">It has no fields.</p>` : ''}`
}

function propertiesOf(schema: unknown): Record<string, unknown> {
  const properties = at(schema, 'properties')
  return isRecord(properties) ? properties : {}
}

/** Inputs have an order, arguments none. */
function byOrder([, one]: [string, unknown], [, other]: [string, unknown]): number {
  return Number(at(one, 'order') ?? 0) - Number(at(other, 'order') ?? 0)
}

/** @param field its place in the page, and the values of other fields with which it is shown */
function fieldOf(
  { id, name, required, condition }: { id: string; name: string; required: boolean; condition: unknown },
  schema: unknown,
  value: unknown,
): Html {
  const kind = kindOf(name, schema)
  const label = html`<label for="${id}">${at(schema, 'title') ?? name}${required ? html` <span class="required">required</span>` : ''}</label>`
  const notes = { list: 'Separate several by commas.', json: 'As JSON.' }
  const hint = [at(schema, 'description'), kind === 'list' || kind === 'json' ? notes[kind] : undefined]
  // Descriptions are Markdown with `code`.
  const text = hint.filter(Boolean).join(' ').replaceAll('`', '')
  const attributes = html`id="${id}" data-name="${name}" data-kind="${kind}" aria-describedby="${id}-hint ${id}-fault"`
  const control = controlOf(kind, attributes, schema, value)
  return html`<div class="field" data-field="${name}"
    ${condition === undefined ? '' : html`data-shown-when="${JSON.stringify(condition)}" hidden`}>
    ${label}${control}
    <p class="hint" id="${id}-hint">${text}</p><p class="fault" id="${id}-fault" hidden></p></div>`
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
  return fields.find(([, field]) => at(field, 'contentEncoding') === 'base64')?.[0]
}

/** The values of an enum, each with its label. */
function choicesOf(schema: unknown): (readonly [value: string, label: string])[] {
  const labelled = listOf(at(schema, 'oneOf')).filter((one) => at(one, 'const') !== undefined)
  const pairs = labelled.map((one) => [at(one, 'const'), at(one, 'title')])
  const all = [...listOf(at(schema, 'enum')).map((value) => [value, value]), ...pairs]
  return all.map(([value, label]) => [String(value), String(label ?? value)])
}

function controlOf(kind: Kind, attributes: Html, schema: unknown, value: unknown): Html {
  const list = kind === 'list' && Array.isArray(value) ? value.join(', ') : value
  const initial = typeof list === 'string' ? list : (JSON.stringify(list, null, 2) ?? '')
  switch (kind) {
    case 'choice': {
      return html`<select ${attributes}>${at(schema, 'default') === undefined ? html`<option value="">–</option>` : ''}
        ${choicesOf(schema).map(([option, words]) => html`<option value="${option}" ${option === initial ? html`selected` : ''}>${words}</option>`)}</select>`
    }
    case 'boolean': {
      const choices = [
        ['', 'not set'],
        ['true', 'yes'],
        ['false', 'no'],
      ] as const
      return html`<select ${attributes}>${choices.map(([option, words]) => html`<option value="${option}" ${option === initial ? html`selected` : ''}>${words}</option>`)}</select>`
    }
    case 'files':
      return html`<input type="file" multiple ${attributes} data-content="${contentOf(schema)}">`
    case 'long':
    case 'json':
      return html`<textarea rows="4" spellcheck="false" ${attributes}>
${initial}</textarea>`
    default: {
      const type = kind === 'list' ? 'text' : kind
      return html`<input type="${type}" step="any" autocomplete="off" spellcheck="false" ${attributes} value="${initial}">`
    }
  }
}
