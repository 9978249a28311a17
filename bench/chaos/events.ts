import type { Delivery } from './sender.ts'

/** DEPLOYMENT_CREATED of a provisioned application. */
export const created = (
  deployment: string,
  applicationName: string,
  id = `${deployment}_created`,
): Delivery => ({
  route: 'idp-server',
  id,
  event: { name: 'DEPLOYMENT_CREATED', deployment: { id: deployment, inputs: { applicationName } } },
})

/** DEPLOYMENT_DELETED, with no more than the id. */
export const deleted = (deployment: string, id = `${deployment}_deleted`): Delivery => ({
  route: 'idp-server',
  id,
  event: { name: 'DEPLOYMENT_DELETED', deployment: { id: deployment } },
})

/** One mail, by the shared mail server; the address is made of the id, so that the mail can be told. */
export const sendEmail = (id: string): Delivery => ({
  route: 'mailer',
  id,
  event: {
    name: 'FUNCTION_CALL',
    functionCall: {
      name: 'sendEmail',
      arguments: { to: addressOf(id), subject: 'Hello', textBody: 'Hello.' },
    },
  },
})

/** One mail to each of so many people. */
export const sendEmails = (id: string, people: number): Delivery => ({
  route: 'mailer',
  id,
  event: {
    name: 'FUNCTION_CALL',
    functionCall: {
      name: 'sendEmails',
      arguments: {
        to: Array.from({ length: people }, (_, index) => addressOf(`${id}.${index}`)),
        subject: 'News',
        textBody: 'News.',
      },
    },
  },
})

export const challenge = (id: string): Delivery => ({
  route: 'auth',
  id,
  event: { name: 'WEBHOOK_CHALLENGE', challenge: id },
})

export const health = (id: string, route: 'auth' | 'mailer' = 'auth'): Delivery => ({
  route,
  id,
  event: { name: 'HEALTH_CHECK' },
})

export const addressOf = (id: string) => `${id}@example.org`
