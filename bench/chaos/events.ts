/** An event, with the same route, id and body at every attempt. */
export interface Delivery {
  route: 'auth' | 'idp' | 'idp-server' | 'mailer'
  id: string
  event: Record<string, unknown>
}

export const addressOf = (id: string) => `${id}@example.org`

/** The event has the id of the deployment. */
export const created = (id: string, applicationName = id): Delivery => ({
  route: 'idp-server',
  id,
  event: { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs: { applicationName } } },
})

export const deleted = (deployment: string): Delivery => ({
  route: 'idp-server',
  id: `${deployment}_deleted`,
  event: { name: 'DEPLOYMENT_DELETED', deployment: { id: deployment } },
})

const functionCall = (id: string, name: string, to: string | string[]): Delivery => ({
  route: 'mailer',
  id,
  event: {
    name: 'FUNCTION_CALL',
    functionCall: { name, arguments: { to, subject: 'Hello', textBody: 'Hello.' } },
  },
})

export const sendEmail = (id: string) => functionCall(id, 'sendEmail', addressOf(id))

export const sendEmails = (id: string, people: number) =>
  functionCall(
    id,
    'sendEmails',
    Array.from({ length: people }, (_, index) => addressOf(`${id}.${index}`)),
  )

export const challenge = (id: string): Delivery => ({
  route: 'auth',
  id,
  event: { name: 'WEBHOOK_CHALLENGE', challenge: id },
})
