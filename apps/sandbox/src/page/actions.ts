/**
 * The actions of the page. Each one takes and returns JSON; `html` shows the effect, if there is one to show.
 */
import { Hono } from 'hono'
import { type Delivery, deliveryHeaders } from '../world/deliver.ts'
import { at, isRecord, listOf } from '../world/json.ts'
import type { PageContext } from './context.ts'
import { exchangeResult } from './exchange-view.ts'
import { faultTargets, makeFault, titleOf } from './faults-view.ts'
import type { Stream } from './stream.ts'

type Values = Record<string, unknown>

/** An action is not possible; the message says why. */
class Refusal extends Error {}

const MOST_FAULTS = 100
const MOST_DELAY_MS = 60_000

/** Makes the routes under `/actions`. */
export function createActions(context: PageContext, stream: Stream): Hono {
  const app = new Hono()
  const { world, timeline } = context

  const action = (name: string, perform: (values: Values) => Promise<object> | object) =>
    app.post(`/${name}`, async (request) => {
      const values: unknown = await request.req.json().catch(() => undefined)
      if (!isRecord(values)) return request.json({ message: 'The body must be a JSON object.' }, 400)
      return request.json(await perform(values))
    })

  app.onError((error, request) => {
    if (error instanceof Refusal) return request.json({ message: error.message }, 400)
    return request.json({ message: `The sandbox failed: ${error.message}` }, 500)
  })

  const deliver = async (...deliveries: Delivery[]) => {
    const exchanges = await Promise.all(deliveries.map((delivery) => world.deliver(delivery, 'page')))
    const entries = exchanges.flatMap(({ number }) => timeline.get(number) ?? [])
    const response = exchanges[0]?.response
    const errors = listOf(at(response?.body, 'errors'))
    return { status: response?.status, errors, html: String(await exchangeResult(context, entries)) }
  }

  action('event', (values) => {
    const { route, event } = values
    if (!context.manifests.some(({ name }) => name === route)) throw new Refusal('There is no such route.')
    const id = at(event, 'deployment', 'id')
    const inputs = at(event, 'deployment', 'inputs') ?? world.platform.deployments.get(String(id))?.inputs
    // The page does not know the inputs of a deployment, because they contain secrets.
    const again = at(event, 'name') === 'DEPLOYMENT_CREATED' && { deployment: { id, inputs } }
    const body = JSON.stringify(isRecord(event) ? { ...event, ...again } : event)
    return deliver({ route: String(route), id: crypto.randomUUID(), body })
  })

  action('again', (values) => {
    const event = recorded(values)
    const fault = makeFault(String(values.fault))
    if (fault) world.mail.emulator?.faults.add(fault)
    const id = values.id === 'same' ? event.id : crypto.randomUUID()
    const copies = values.id === 'twice' ? 2 : 1
    return deliver(...Array.from({ length: copies }, () => ({ ...event, id })))
  })

  action('curl', async (values) => {
    const { route, body, id } = recorded(values)
    const headers = Object.entries(await deliveryHeaders({ id, body }, world.webhookSecret))
    const parts = [
      `curl -X POST ${quote(`${world.url}/${route}/webhook`)}`,
      ...headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
      `--data-raw ${quote(body)}`,
    ]
    return { text: parts.join(' \\\n  ') }
  })

  action('reveal', (values) => {
    const deployment = world.platform.deployments.get(String(values.deployment))
    const name = String(values.output)
    if (!deployment?.sensitive.includes(name) || !Object.hasOwn(deployment.outputs, name)) {
      throw new Refusal('There is no such output.')
    }
    return { text: String(deployment.outputs[name]) }
  })

  action('faults', (values) => {
    const target = faultTargets(context).find(({ name }) => name === values.target)
    const times = wholeNumber(values, 'times', MOST_FAULTS)
    const delayMs = values.kind === 'delay' ? wholeNumber(values, 'delayMs', MOST_DELAY_MS) : 0
    // One fault for each call, so that the page can count the remaining ones.
    const faults = Array.from({ length: times }, () =>
      makeFault(String(values.kind), delayMs, String(values.path ?? '').trim()),
    )
    const [first] = faults
    if (!target || !first) throw new Refusal('There is no such fault.')
    for (const fault of faults) if (fault) target.faults.add(fault)
    stream.changed()
    const calls = times === 1 ? 'call' : `${times} calls`
    return { message: `${target.title}: ${titleOf(first)}, for the next ${calls}.` }
  })

  action('mend', () => {
    for (const { faults } of faultTargets(context)) faults.clear()
    stream.changed()
    return { message: 'Everything works again.' }
  })

  function recorded(values: Values): Delivery {
    const entry = timeline.get(Number(values.number))
    if (!entry) throw new Refusal('This event is no longer kept.')
    if (entry.body === undefined) throw new Refusal('The body of this event was too long to keep.')
    return { route: entry.route, body: entry.body, id: entry.deliveryId }
  }

  return app
}

function wholeNumber(values: Values, name: string, most: number): number {
  const value = Number(values[name])
  if (Number.isInteger(value) && value >= 1 && value <= most) return value
  throw new Refusal(`${name}: expected a whole number from 1 to ${most}.`)
}

function quote(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`
}
