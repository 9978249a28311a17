/**
 * What the forms of functions hold at first, so that a click is enough to see something.
 *
 * @module
 */
import type { IdpInstance } from '@org/idp/testing'
import type { PageContext } from './context.ts'

/** A first mail. */
export function exampleMail({ world }: PageContext): Record<string, unknown> {
  return {
    to: world.mail.to,
    subject: 'Your order is on its way',
    htmlBody: '<h1>Hello Ada,</h1>\n<p>your order left the house today.</p>',
  }
}

/** The arguments of a function, as an example. */
export function exampleOf(
  context: PageContext,
  route: string,
  name: string,
  deployment: string,
): Record<string, unknown> {
  const userId = [...(instanceOf(context, route, deployment)?.users.keys() ?? [])].at(-1)
  const examples: Record<string, Record<string, unknown>> = {
    sendEmail: exampleMail(context),
    sendEmails: {
      to: [context.world.mail.to, 'grace@example.com'],
      subject: 'News from the shop',
      textBody: 'There is something new.',
    },
    createUser: {
      emailAddress: `ada${usersOf(context, route, deployment)}@example.com`,
      firstName: 'Ada',
      lastName: 'Lovelace',
    },
    getUser: userId ? { userId } : {},
    updateUser: { ...(userId ? { userId } : {}), firstName: 'Augusta' },
    deleteUser: userId ? { userId } : {},
    createOrganization: { name: 'Analytical Engines' },
  }
  return examples[name] ?? {}
}

function usersOf(context: PageContext, route: string, deployment: string): string {
  const { size } = instanceOf(context, route, deployment)?.users ?? { size: 0 }
  return size === 0 ? '' : `-${size + 1}`
}

/** The instance that a deployment stands for, where it is emulated. */
function instanceOf({ world }: PageContext, route: string, deployment: string): IdpInstance | undefined {
  if (route === 'idp') return world.idp.emulator?.instance
  const secretKey = String(world.platform.deployments.get(deployment)?.outputs.secretKey)
  return world.idpServer.emulator?.backend.findInstance(secretKey)
}
