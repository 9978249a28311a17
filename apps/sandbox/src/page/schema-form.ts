/**
 * A form from a JSON Schema: one field for each property. What it holds is judged by the host, whose faults
 * `static/forms.js` shows at their fields.
 *
 * @module
 */
import type { JsonSchema } from '@org/core/internal'
import { html } from 'hono/html'
import { at, isRecord, listOf } from '../data.ts'
import type { Html } from './html.ts'

/** Options of {@link schemaFields}. */
export interface FieldOptions {
  /** Makes the ids of the fields unique within the page. */
  prefix: string
  /** What the fields hold at first. */
  values?: Readonly<Record<string, unknown>>
  /** Only these, in this order. */
  only?: readonly string[]
}

/** How many optional fields are shown without being asked for. */
const FEW = 6

/** The fields of an object: what is needed, and what has a value; the rest folded away where it is much. */
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
    ${shown.length === 0 ? html`<p class="hint">There is nothing to fill in.</p>` : ''}`
}

/** Needed always, or where it can be seen: a field that is required by a condition is hidden where that does not hold. */
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
  if (kind === 'one-or-more' || kind === 'list') return 'Several: separated by commas or line breaks.'
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

/** Descriptions are written for documents, with `code` in them. */
function plain(text: string): string {
  return text.replaceAll('`', '')
}
