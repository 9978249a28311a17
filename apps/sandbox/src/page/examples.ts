/** Examples that work as they are: the ones of the manifest, with the ids of what exists. */
import type { Manifest } from '@org/core/internal'
import { exampleOf as manifestExample } from '../world/examples.ts'
import { isRecord } from '../world/json.ts'
import { hasSucceeded } from '../world/timeline.ts'
import type { PageContext } from './context.ts'

/** A first mail. */
export function exampleMail({ world }: PageContext) {
  const htmlBody = '<h1>Hello Ada,</h1>\n<p>your order left the house today.</p>'
  return { to: world.mail.to, subject: 'Your order is on its way', htmlBody }
}

/** An id as providers generate it, such as `user_2abc…`. */
const ID = /^([a-z]+_)\w{8,}$/

/**
 * The example of the manifest, so that one click is enough. An id in it becomes the newest one of its kind that the
 * deployment has, and an address that was used for a creation gets a number.
 */
export function exampleOf(
  { manifests, timeline, world }: PageContext,
  route: string,
  name: string,
  deployment: string | undefined,
): Record<string, unknown> {
  const whole = manifestExample(manifests.find((one) => one.name === route)?.functions[name]?.arguments)
  const done = timeline
    .list()
    .filter((one) => one.source !== 'walk' && one.route === route && one.deployment === deployment)
    .filter(hasSucceeded)
  const texts = done.map(({ response }) => response?.text ?? '').join('\n')
  const isDeleted = (id: string) => texts.includes(`"id":"${id}","deleted":true`)
  const times = name.startsWith('create') ? done.filter(({ subject }) => subject === name).length : 0
  const adapt = (_: string, value: unknown) => {
    if (typeof value !== 'string') return value
    const [, kind] = ID.exec(value) ?? []
    if (kind) {
      const ids = texts.matchAll(new RegExp(`(?<="id":")${kind}\\w+`, 'g'))
      return [...ids].map(String).find((id) => !isDeleted(id))
    }
    // A real mail provider gets mail for its black hole alone.
    if (!world.mail.emulator && value.includes('@')) return world.mail.to
    return times > 0 ? value.replace('@', `-${times + 1}@`) : value
  }
  const adapted: unknown = JSON.parse(JSON.stringify(whole, adapt))
  return isRecord(adapted) ? adapted : {}
}

/** An event of this name, or a call of the function of this name. */
export function exampleEvent(
  context: PageContext,
  { name: route, functions, downloads }: Manifest,
  name: string,
  id: string | undefined,
): object {
  const deployment = id === undefined ? {} : { deployment: { id } }
  if (Object.hasOwn(functions, name)) {
    const functionCall = { name, arguments: exampleOf(context, route, name, id) }
    return { name: 'FUNCTION_CALL', ...deployment, functionCall }
  }
  const more: Readonly<Record<string, object>> = {
    DEPLOYMENT_CREATED: { deployment: { id: context.freeId(route), inputs: {} } },
    WEBHOOK_CHALLENGE: { challenge: 'c_1' },
    DOWNLOAD_STARTED: { download: { id: 'dl_1', file: downloads[0] } },
    DEPLOYMENT_DELETED: { deployment: { id: id ?? 'dep_1' } },
  }
  return { name, ...deployment, ...more[name] }
}
