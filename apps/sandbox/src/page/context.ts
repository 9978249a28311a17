/** The data behind every view and every action of the page. */
import { createRedactor } from '@org/core/internal/host'
import type { EmulatedDeployment } from '@org/core/testing'
import type { HeaderList, OpenExchange } from '../world/exchange.ts'
import { at, isRecord, listOf } from '../world/json.ts'
import { createMask, MASK, SECRET_FIELD } from '../world/mask.ts'
import { createTimeline, type TimelineEntry } from '../world/timeline.ts'
import type { World } from '../world/world.ts'

/** The data of the page, and how the page hides secrets. */
export type PageContext = ReturnType<typeof createPageContext>
/** A deployment with the name of its integration. */
export type Deployment = EmulatedDeployment & { route: string }

const SECRET_HEADER = /authorization|token|secret|cookie|api-?key/i
/** In the response of the mail provider. */
const MESSAGE_ID = /"MessageID":"([^"]+)"/g
/** A field with a text, in JSON that is cut or broken. */
const FIELD_IN_TEXT = /("([\w-]*)"\s*:\s*")(?:[^"\\]|\\.)*/g

export function createPageContext(world: World) {
  const redactor = createRedactor(world.secrets)
  const mask = createMask([], redactor)
  const { manifests } = world
  const { deployments } = world.platform
  const eventOfMail = new Map<string, number>()
  const { messages } = world.mail

  return {
    world,
    manifests,
    timeline: createTimeline(),
    changes: createChanges(),
    /** Copies plain data without secrets. */
    mask,
    /** Formats a body: JSON with indents, and without secrets. */
    maskText(text: string): string {
      if (text === '') return ''
      try {
        return JSON.stringify(mask(JSON.parse(text)), null, 2)
      } catch {
        return mask({ text: hideFields(text) }).text
      }
    },
    maskHeaders: (headers: HeaderList): HeaderList =>
      headers.map(([name, value]) => [name, SECRET_HEADER.test(name) ? MASK : mask({ value }).value]),
    /** The accepted mail. */
    messages,
    /** The number of the event that sent a mail, by the mail’s id. */
    eventOfMail,
    /** The mails that an event sent. */
    mailsOf: ({ number }: TimelineEntry) =>
      messages.filter(({ messageId }) => eventOfMail.get(messageId) === number),
    /** Hides the secrets of an exchange from now on, and links its mails to it. */
    learn({ number, route, request, calls, response }: OpenExchange): void {
      const inputs = manifests.find(({ name }) => name === route)?.inputs
      const properties = [at(inputs, 'properties'), at(inputs, 'then', 'properties')].filter(isRecord)
      for (const [name, field] of properties.flatMap(Object.entries<unknown>)) {
        const value = at(request.body, 'deployment', 'inputs', name)
        // A reference only names a secret, so it stays readable.
        if (at(field, 'writeOnly') === true && !String(value).startsWith('{{')) redactor.add(value)
      }
      for (const call of calls) {
        const { body } = call.request
        if (call.to === 'platform' && call.path.endsWith('/outputs'))
          for (const path of listOf(at(body, 'sensitive')))
            redactor.add(at(body, 'outputs', String(path).replace(/\..*/, '')))
        if (!response) continue
        for (const [, id = ''] of call.response.text.matchAll(MESSAGE_ID)) eventOfMail.set(id, number)
      }
    },
    /** The deployments, newest first. */
    deployments: (): Deployment[] =>
      [...deployments.values()]
        .map((deployment) => ({ ...deployment, route: world.deploymentRoutes.get(deployment.id) ?? '' }))
        .reverse(),
    /** An id for a new deployment, or for another try of one that failed or may still fail. */
    freeId(route: string): string {
      for (let number = 1; ; number += 1) {
        const id = `dep_${route.replaceAll('-', '_')}_${number}`
        if (/^(failed|deploying)$/.test(deployments.get(id)?.status ?? 'failed')) return id
      }
    },
  }
}

/** Something that pages wait for. */
function createChanges() {
  let next = Promise.withResolvers<void>()
  return {
    isOver: false,
    /** Resolves at the next change. */
    next: () => next.promise,
    tell(): void {
      next.resolve()
      next = Promise.withResolvers()
    },
    end(): void {
      this.isOver = true
      this.tell()
    },
  }
}

function hideFields(text: string): string {
  return text.replaceAll(FIELD_IN_TEXT, (field: string, before: string, name: string) =>
    SECRET_FIELD.test(name) ? before + MASK : field,
  )
}
