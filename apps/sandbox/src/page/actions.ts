/** The actions of the page. Each one takes and returns JSON; `html` shows the effect, if there is one to show. */
import { Hono } from 'hono'
import { html } from 'hono/html'
import { type Delivery, deliveryHeaders } from '../world/deliver.ts'
import { at, isRecord, listOf } from '../world/json.ts'
import { MASK } from '../world/mask.ts'
import { plural } from '../world/text.ts'
import type { TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { faultOf, titleOf } from './faults.ts'
import { actionButton, address } from './html.ts'
import { judge } from './verdict.ts'

type Values = Record<string, unknown>

/** An action is not possible; the message says why. */
class Refusal extends Error {}

/** Makes the routes under `/actions`. */
export function createActions(context: PageContext): Hono {
  const app = new Hono()
  const actions = actionsOf(context)
  app.post('/:name', async (request) => {
    const action = actions.get(request.req.param('name'))
    const values: unknown = await request.req.json().catch(() => undefined)
    if (!action) return request.notFound()
    if (!isRecord(values)) return request.json({ message: 'The body must be a JSON object.' }, 400)
    const result = await action(values)
    context.changes.tell()
    return request.json(result)
  })
  app.onError((error, request) => {
    if (error instanceof Refusal) return request.json({ message: error.message }, 400)
    return request.json({ message: `The sandbox failed: ${error.message}` }, 500)
  })
  return app
}

function actionsOf(context: PageContext) {
  const { world, timeline } = context
  let undo: (() => void) | undefined

  /** Delivers events at the same time. `url` shows the first one, and `message` says what happened. */
  const deliver = async (...deliveries: Delivery[]) => {
    const [first] = await Promise.all(deliveries.map((delivery) => world.deliver(delivery, 'page')))
    const entry = timeline.get(first?.number ?? 0)
    const url = `/timeline?event=${first?.number}`
    const errors = listOf(at(first?.response.body, 'errors'))
    const message = entry ? context.mask({ title: judge(entry).title }).title : ''
    const link = html`<a href="${url}">Event ${first?.number}</a>`
    return { url, errors, message: `${message}.`, html: String(link) }
  }

  const undoable = (message: string, restore: () => void) => {
    undo = restore
    return { message, html: String(actionButton('Undo', 'undo', {}, { look: 'link' })) }
  }

  function entryOf({ number }: Values): TimelineEntry {
    const entry = timeline.get(Number(number))
    if (!entry) throw new Refusal('This event is no longer kept.')
    return entry
  }

  function queueOf(wanted: unknown) {
    const [, queue] = Object.entries(world.faults).find(([target]) => target === wanted) ?? []
    if (!queue) throw new Refusal('There is no such target.')
    return queue
  }

  function recorded(values: Values): Delivery {
    const { route, body, deliveryId: id } = entryOf(values)
    if (body === undefined) throw new Refusal('The body of this event was too long to keep.')
    return { route, body, id }
  }

  const actions: Readonly<Record<string, (values: Values) => Promise<object> | object>> = {
    async event({ route, event }) {
      if (!context.manifests.some(({ name }) => name === route)) throw new Refusal('There is no such route.')
      const id = at(event, 'deployment', 'id')
      const inputs = at(event, 'deployment', 'inputs') ?? world.platform.deployments.get(String(id))?.inputs
      // The page does not know the inputs of a deployment, because they contain secrets.
      const again = at(event, 'name') === 'DEPLOYMENT_CREATED' && { deployment: { id, inputs } }
      const body = JSON.stringify(isRecord(event) ? { ...event, ...again } : event)
      const result = await deliver({ route: String(route), id: crypto.randomUUID(), body })
      return again ? { ...result, url: address('/deployments', { deployment: String(id) }) } : result
    },
    async again(values) {
      const event = recorded(values)
      const fault = faultOf(String(values.fault))
      if (fault) world.mail.faults.add(fault)
      const id = values.id === 'same' ? event.id : crypto.randomUUID()
      // As a platform does that got no response.
      if (values.id === 'lost') await deliver({ ...event, id })
      return deliver(...Array<Delivery>(values.id === 'twice' ? 2 : 1).fill({ ...event, id }))
    },
    raw(values) {
      const { route, text, signature, id } = values
      if (typeof route !== 'string' || !/^[\w-]+$/.test(route))
        throw new Refusal('Name a route, such as mailer.')
      const edited = values.number === undefined ? undefined : entryOf(values)
      const given = { same: edited?.deliveryId, none: undefined, new: crypto.randomUUID() }
      const body = String(text ?? '')
      if (body.includes(MASK)) throw new Refusal(`Write a secret in place of each ${MASK}.`)
      return deliver({
        route,
        body,
        id: id === 'same' || id === 'none' ? given[id] : given.new,
        signature: signature === 'wrong' || signature === 'missing' ? signature : 'right',
      })
    },
    async copy(values) {
      const { route, body, id } = recorded(values)
      const headers = Object.entries(await deliveryHeaders({ id, body }, world.webhookSecret))
      return { text: curlOf(`${world.url}/${route}/webhook`, headers, body) }
    },
    clear: () => undoable(`Cleared ${plural(timeline.list().length, 'event')}.`, timeline.clear()),
    'clear-mail'() {
      const { messages } = context
      const cleared = messages.splice(0)
      return undoable(`Removed ${plural(cleared.length, 'mail')}.`, () => void messages.unshift(...cleared))
    },
    undo() {
      if (!undo) throw new Refusal('There is nothing to undo.')
      undo()
      undo = undefined
      return { message: 'Undone.' }
    },
    reveal(values) {
      const deployment = world.platform.deployments.get(String(values.deployment))
      const name = String(values.output)
      if (!deployment || !Object.hasOwn(deployment.outputs, name))
        throw new Refusal('There is no such output.')
      const value = deployment.outputs[name]
      return { text: typeof value === 'string' ? value : JSON.stringify(value) }
    },
    break({ target, kind }) {
      const fault = faultOf(String(kind))
      if (!fault) throw new Refusal('There is no such fault.')
      queueOf(target).add(fault)
      return { message: 'The next call breaks.' }
    },
    mend({ target, title }) {
      const queue = queueOf(target)
      const kept = queue.pending().filter((fault) => titleOf(fault) !== title)
      queue.clear()
      queue.add(...kept)
      return { message: `Taken back: ${title}.` }
    },
  }
  return new Map(Object.entries(actions))
}

/** A POST as a command for the shell. */
function curlOf(url: string, headers: [name: string, value: string][], body: string): string {
  const quote = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`
  const options = headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`)
  return [`curl -X POST ${quote(url)}`, ...options, `--data-raw ${quote(body)}`].join(' \\\n  ')
}
