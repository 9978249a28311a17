/**
 * What every view and every action of the page works with.
 *
 * @module
 */
import { createRedactor, type JsonSchema, type Manifest } from '@org/core/internal'
import { at, isRecord, listOf } from '../data.ts'
import type { HeaderList, OpenExchange } from '../exchange.ts'
import { createMask } from '../mask.ts'
import { createTimeline, type Timeline } from '../timeline.ts'
import type { World } from '../world.ts'

/** Everything that the page shows, and how it keeps secrets off the screen. */
export interface PageContext {
  world: World
  timeline: Timeline
  manifests: readonly Manifest[]
  /** A copy of plain data without secrets. */
  mask: <T>(data: T) => T
  /** A body as a person reads it: JSON with indents, and without secrets. */
  maskText(text: string): string
  maskHeaders(headers: HeaderList): HeaderList
  /** Keeps what is secret in an exchange off the page from now on. */
  learn(exchange: OpenExchange): void
}

const MASK = '[redacted]'
const SECRET_HEADER = /authorization|token|secret|cookie|api-?key/i
/** The value of a field that is called a secret, in JSON that was cut off or broken. */
const SECRET_IN_TEXT = /("[\w-]*(?:token|secret|password|api_?key)[\w-]*"\s*:\s*")((?:[^"\\]|\\.)*)/gi

/** Makes the context of one page. */
export function createPageContext(world: World, manifests: readonly Manifest[]): PageContext {
  const redactor = createRedactor(world.secrets)
  const mask = createMask([], redactor)

  function maskText(text: string): string {
    if (text === '') return ''
    try {
      return JSON.stringify(mask(JSON.parse(text)), null, 2)
    } catch {
      return mask({ text: text.replaceAll(SECRET_IN_TEXT, `$1${MASK}`) }).text
    }
  }

  return {
    world,
    timeline: createTimeline(),
    manifests,
    mask,
    maskText,
    maskHeaders: (headers) =>
      headers.map(([name, value]) => [name, SECRET_HEADER.test(name) ? MASK : mask({ value }).value]),
    learn(exchange) {
      const manifest = manifests.find(({ name }) => name === exchange.route)
      const inputs = at(exchange.event, 'deployment', 'inputs')
      for (const name of secretFields(manifest?.inputs)) {
        const value = at(inputs, name)
        // A reference names a secret, and is to be read.
        if (!String(value).startsWith('{{')) redactor.add(value)
      }
      for (const { to, path, body } of exchange.calls) {
        if (to !== 'platform' || !path.endsWith('/outputs')) continue
        for (const name of listOf(at(body, 'sensitive'))) redactor.add(at(body, 'outputs', String(name)))
      }
    },
  }
}

/** The fields of a schema that hold secrets. */
function secretFields(schema: JsonSchema | undefined): string[] {
  const properties = at(schema, 'properties')
  return Object.entries(isRecord(properties) ? properties : {})
    .filter(([, field]) => at(field, 'writeOnly') === true)
    .map(([name]) => name)
}
