/** Examples that work as they are. */
import type { Manifest } from '@org/core/internal'
import { exampleOf } from '../world/examples.ts'
import type { PageContext } from './context.ts'

/** A first mail. */
export const exampleMail = {
  to: 'ada@example.com',
  subject: 'Your order is on its way',
  htmlBody: '<h1>Hello Ada,</h1>\n<p>your order left the house today.</p>',
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
    const functionCall = { name, arguments: exampleOf(functions[name]?.arguments) }
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
