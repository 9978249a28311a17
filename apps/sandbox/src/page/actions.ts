/**
 * What the page can do. Each action takes JSON and answers JSON; where something comes of it that is to be seen,
 * it is in `html`.
 *
 * @module
 */
import { Hono } from 'hono'
import { at, isRecord } from '../data.ts'
import type { PageContext } from './context.ts'
import { type Delivered, deliverEvent, isOurs, type Outgoing, toCurl } from './deliver.ts'
import { freeId, maskedOutputs } from './deployments-view.ts'
import { exchangeResult } from './exchange-view.ts'
import { faultTargets, makeFault, titleOf } from './fault-kinds.ts'
import type { Stream } from './stream.ts'

type Values = Record<string, unknown>

/** What can’t be done, as a sentence for the person who asked for it. */
class Refusal extends Error {}

const MOST_FAULTS = 100
const MOST_DELAY_MS = 60_000

/** Makes the routes under `/actions`. */
export function createActions(context: PageContext, stream: Stream): Hono {
  const app = new Hono()
  const { world, timeline } = context

  const action = (name: string, act: (values: Values) => Promise<object> | object) =>
    app.post(`/${name}`, async (request) => {
      const values: unknown = await request.req.json().catch(() => undefined)
      if (!isRecord(values)) return request.json({ message: 'The body has to be a JSON object.' }, 400)
      return request.json(await act(values))
    })

  app.onError((error, request) => {
    if (error instanceof Refusal) return request.json({ message: error.message }, 400)
    return request.json({ message: `The sandbox failed: ${error.message}` }, 500)
  })

  const deliverEvents = async (...events: Outgoing[]) => {
    const all = await Promise.all(events.map((event) => deliverEvent(context, event)))
    return toAnswer(context, all)
  }

  action('deploy', async (values) => {
    const answer = await deliverEvents({
      route: route(values),
      id: crypto.randomUUID(),
      body: JSON.stringify({
        name: 'DEPLOYMENT_CREATED',
        deployment: { id: text(values, 'deployment'), inputs: values.values ?? {} },
      }),
    })
    // Where it is set up, the form is ready for another one.
    return answer.status === 200
      ? { ...answer, fill: { deployment: freeId(context, route(values)) } }
      : answer
  })

  // What a deployment can be asked for at any time.
  action('deployment-event', (values) => {
    const id = text(values, 'deployment')
    const record = world.platform.deployments.get(id)
    const file = values.file === undefined ? undefined : text(values, 'file')
    return deliverEvents({
      route: route(values),
      id: crypto.randomUUID(),
      body: JSON.stringify({
        name: text(values, 'event'),
        deployment: { id, ...(values.event === 'DEPLOYMENT_CREATED' ? { inputs: record?.inputs } : {}) },
        ...(file === undefined ? {} : { download: { id: `dl_${crypto.randomUUID().slice(0, 8)}`, file } }),
      }),
    })
  })

  action('call', (values) =>
    deliverEvents({
      route: route(values),
      id: crypto.randomUUID(),
      body: JSON.stringify({
        name: 'FUNCTION_CALL',
        ...(values.deployment ? { deployment: { id: text(values, 'deployment') } } : {}),
        functionCall: { name: text(values, 'function'), arguments: values.values ?? {} },
      }),
    }),
  )

  action('again', (values) => {
    const event = recorded(values)
    const id = values.id === 'same' ? event.id : crypto.randomUUID()
    const copies = values.id === 'twice' ? 2 : 1
    return deliverEvents(...Array.from({ length: copies }, () => ({ ...event, id })))
  })

  // The two of the tour that are about the last mail.
  action('break-and-repeat', () => {
    const event = lastMail()
    const fault = makeFault('rate-limit', {})
    if (fault) world.mail.emulator?.faults.add(fault)
    return deliverEvents({ ...event, id: crypto.randomUUID() })
  })
  action('repeat', () => deliverEvents(lastMail()))

  action('curl', async (values) => ({ text: await toCurl(context, recorded(values)) }))

  action('reveal', (values) => {
    const record = world.platform.deployments.get(text(values, 'deployment'))
    const name = text(values, 'output')
    if (!record || !maskedOutputs(record).includes(name)) throw new Refusal('There is no such output.')
    return { text: String(record.outputs[name]) }
  })

  action('faults', (values) => {
    const target = faultTargets(context).find(({ name }) => name === values.target)
    const times = wholeNumber(values, 'times', 1, MOST_FAULTS)
    const delayMs = values.kind === 'delay' ? wholeNumber(values, 'delayMs', 1, MOST_DELAY_MS) : 0
    const path = values.path ? pathOf(text(values, 'path')) : undefined
    // One by one, so that it can be seen how many are still to come.
    const faults = Array.from({ length: times }, () => makeFault(String(values.kind), { delayMs, path }))
    const [first] = faults
    if (!target || !first) throw new Refusal('There is no such fault.')
    for (const fault of faults) if (fault) target.faults.add(fault)
    stream.changed()
    return {
      message: `${target.title}: ${titleOf(first)}, for the next ${times === 1 ? 'call' : `${times} calls`}.`,
    }
  })

  action('mend', () => {
    for (const { faults } of faultTargets(context)) faults.clear()
    stream.changed()
    return { message: 'Everything works again.' }
  })

  function route(values: Values): string {
    const name = text(values, 'route')
    if (!context.manifests.some((manifest) => manifest.name === name))
      throw new Refusal('There is no such route.')
    return name
  }

  function recorded(values: Values): Outgoing {
    const entry = timeline.get(Number(values.number))
    if (!entry) throw new Refusal('This event is no longer kept.')
    if (entry.body === undefined) throw new Refusal('The body of this event was too long to keep.')
    return { route: entry.route, body: entry.body, id: entry.deliveryId }
  }

  function lastMail(): Outgoing {
    const entry = timeline.newest((one) => isOurs(one) && one.subject === 'sendEmail')
    if (!entry) throw new Refusal('Send a mail first.')
    return recorded({ number: entry.number })
  }

  return app
}

async function toAnswer(context: PageContext, delivered: readonly Delivered[]) {
  const entries = delivered.flatMap(({ number }) => context.timeline.get(number ?? 0) ?? [])
  return {
    status: delivered[0]?.status,
    errors: delivered[0]?.errors ?? [],
    numbers: delivered.map(({ number }) => number),
    html: String(await exchangeResult(context, entries)),
  }
}

function text(values: Values, name: string): string {
  const value = values[name]
  if (typeof value !== 'string' || value.trim() === '') throw new Refusal(`${name} is missing.`)
  return value.trim()
}

function wholeNumber(values: Values, name: string, least: number, most: number): number {
  const value = Number(at(values, name))
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new Refusal(`${name}: expected a whole number from ${least} to ${most}.`)
}

/** The text as it may occur in a path; a `*` stands for anything. */
function pathOf(pattern: string): RegExp {
  return new RegExp(pattern.replaceAll(/[.*+?^${}()|[\]\\]/g, (sign) => (sign === '*' ? '.*' : `\\${sign}`)))
}
