/**
 * Forms. A JSON Schema gives one field for each property. The host validates the values, and `static/forms.js`
 * shows its errors at their fields.
 *
 * @module
 */
import type { JsonSchema } from '@org/core/internal'
import { html } from 'hono/html'
import { at, isRecord, listOf } from '../world/json.ts'
import type { Html } from './html.ts'

/**
 * A form that `static/forms.js` sends to an action.
 *
 * @param options the action, the element for the result, the path of the errors, and the label of the button
 * @param extras fixed fields
 */
export function sendForm(
  {
    action,
    target = '',
    path = '',
    button,
  }: { action: string; target?: string; path?: string; button: string },
  extras: Readonly<Record<string, string>>,
  fields: Html,
): Html {
  return html`<form data-send="${action}" data-target="${target}" data-faults="${path}" novalidate>
    ${Object.entries(extras).map(([name, value]) => html`<input type="hidden" data-extra="${name}" value="${value}">`)}
    ${fields}
    <p class="fault form-fault" role="alert" hidden></p>
    <button class="button primary">${button}</button></form>`
}

/** Options of {@link schemaFields}. */
export interface FieldOptions {
  /** Makes the ids of the fields unique within the page. */
  prefix: string
  /** The initial values. */
  values?: Readonly<Record<string, unknown>>
  /** Only these, in this order. */
  only?: readonly string[]
}

/** So many fields are never folded. */
const FEW = 6

/** The fields of an object. A long rest without values is folded. */
export function schemaFields(schema: JsonSchema, { prefix, values = {}, only }: FieldOptions): Html {
  const properties = at(schema, 'properties')
  const all = Object.entries(isRecord(properties) ? properties : {})
  const shown = only ? only.flatMap((name) => all.filter(([known]) => known === name)) : all
  const required = listOf(schema.required)
  const fields = shown.map(([name, field]) => ({
    name,
    important: required.includes(name) || name in values || shown.length <= FEW,
    html: fieldOf(name, field, { prefix, value: values[name], required: isRequired(schema, name) }),
  }))
  const first = fields.filter(({ important }) => important)
  const rest = fields.filter(({ important }) => !important)
  return html`${first.map((field) => field.html)}
    ${
      rest.length > 0
        ? html`<details class="more"><summary>${first.length > 0 ? `${rest.length} more fields` : `${rest.length} optional fields`}</summary>
            <div class="fields">${rest.map((field) => field.html)}</div></details>`
        : ''
    }
    ${shown.length === 0 ? html`<p class="hint">It has no fields.</p>` : ''}`
}

/** A field with a condition is hidden unless the condition holds, so it may say “required”, too. */
function isRequired(schema: JsonSchema, name: string): boolean {
  const always = listOf(schema.required).includes(name)
  return (
    (always && at(schema, 'properties', name, 'default') === undefined) ||
    listOf(at(schema, 'then', 'required')).includes(name)
  )
}

interface Given {
  prefix: string
  value: unknown
  required: boolean
}

function fieldOf(name: string, schema: unknown, { prefix, value, required }: Given): Html {
  const id = `${prefix}-${name}`
  const kind = kindOf(name, schema)
  const visibleWhen = at(schema, 'visibleWhen')
  const description = at(schema, 'description')
  const label = html`<label for="${id}">${name}${required ? html` <span class="required">required</span>` : ''}</label>`
  const notes = [typeof description === 'string' ? description : '', noteOf(kind)]
    .filter((note) => note !== '')
    .join(' ')
  const help = html`${notes ? html`<p class="hint" id="${id}-hint">${plain(notes)}</p>` : ''}<p class="fault" id="${id}-fault" hidden></p>`
  const described = html`aria-describedby="${notes ? `${id}-hint ` : ''}${id}-fault"`
  const control = controlOf(kind, { id, name, schema, value, described })
  return html`<div class="field ${kind === 'boolean' ? 'check' : ''}" data-field="${name}"
    ${visibleWhen === undefined ? '' : html`data-visible-when="${JSON.stringify(visibleWhen)}" hidden`}>
    ${kind === 'boolean' ? html`<div class="check-line">${control}${label}</div>` : html`${label}${control}`}${help}</div>`
}

type Kind = 'text' | 'long' | 'secret' | 'number' | 'boolean' | 'choice' | 'one-or-more' | 'list' | 'json'

function kindOf(name: string, schema: unknown): Kind {
  if (Array.isArray(at(schema, 'enum'))) return 'choice'
  if (at(schema, 'writeOnly') === true) return 'secret'
  const types = [schema, ...listOf(at(schema, 'anyOf'))].map((one) => at(one, 'type'))
  if (types.includes('string'))
    return types.includes('array') ? 'one-or-more' : /body$/i.test(name) ? 'long' : 'text'
  if (types.includes('boolean')) return 'boolean'
  if (types.includes('integer') || types.includes('number')) return 'number'
  if (types.includes('array') && at(schema, 'items', 'type') === 'string') return 'list'
  return 'json'
}

function noteOf(kind: Kind): string {
  if (kind === 'one-or-more' || kind === 'list') return 'Separate several by commas or line breaks.'
  return kind === 'json' ? 'As JSON.' : ''
}

interface Control {
  id: string
  name: string
  schema: unknown
  value: unknown
  described: Html
}

function controlOf(kind: Kind, { id, name, schema, value, described }: Control): Html {
  const common = html`id="${id}" data-name="${name}" data-kind="${kind}" ${described}`
  const preset = value ?? at(schema, 'default')
  const initial =
    preset === undefined ? '' : typeof preset === 'string' ? preset : JSON.stringify(preset, null, 2)
  switch (kind) {
    case 'choice': {
      const options = listOf(at(schema, 'enum')).map(String)
      return html`<select ${common}>${at(schema, 'default') === undefined ? html`<option value="">–</option>` : ''}
        ${options.map((option) => html`<option ${option === initial ? html`selected` : ''}>${option}</option>`)}</select>`
    }
    case 'boolean':
      return html`<input type="checkbox" ${common} ${preset === true ? html`checked` : ''}>`
    case 'number':
      return html`<input type="number" step="any" inputmode="numeric" ${common} value="${initial}">`
    case 'secret':
      return html`<input type="password" autocomplete="off" ${common} value="${initial}">`
    case 'long':
    case 'json':
      return html`<textarea rows="${kind === 'long' ? 4 : 3}" spellcheck="false" ${common}>
${initial}</textarea>`
    case 'list':
      return html`<textarea rows="2" spellcheck="false" ${common}>
${Array.isArray(preset) ? preset.join('\n') : initial}</textarea>`
    default:
      return html`<input type="text" autocomplete="off" spellcheck="false" ${common} value="${initial}">`
  }
}

/** Descriptions are Markdown with `code`. */
function plain(text: string): string {
  return text.replaceAll('`', '')
}
