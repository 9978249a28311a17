/** One valid event for each event and each function name of each route. The suites change parts of them. */
import { eventNames, exampleOf } from '@org/core/hosting'
import { builtin } from '../src/integrations.ts'
import { credentials, samples } from './hosted.ts'

export const routes = builtin.map(({ name }) => name)

const message = {
  ...{ to: ['ada@example.com', 'Bob <bob@example.com>'], from: 'Shop <shop@example.com>', tag: 'welcome' },
  ...{ cc: 'cc@example.com', bcc: ['bcc@example.com'], replyTo: 'reply@example.com', trackOpens: true },
  ...{
    subject: 'canary subject',
    htmlBody: '<p>Hi</p>',
    textBody: 'canary words',
    messageStream: 'outbound',
  },
  ...{ headers: { 'X-Campaign': 'one' }, metadata: { order: '7' } },
}
const withFile = { ...message, attachments: [{ name: 'a.txt', content: 'aGk=', contentType: 'text/plain' }] }
const changes = {
  ...{
    firstName: 'Ada',
    lastName: 'CanarySurname',
    password: 'canary-password "\\é',
    skipPasswordChecks: true,
  },
  ...{ publicMetadata: { plan: 'gold' }, privateMetadata: { nested: { list: [1, null, true] } } },
  unsafeMetadata: {},
}
const identity = { username: 'ada_lovelace', externalId: '7', phoneNumber: '+15555550123' }
const page = { query: 'ada', limit: 5, offset: 0 }
const user = { userId: 'user_1' }
const limits = { maxAllowedMemberships: 5, publicMetadata: {} }
const ofUsers = {
  createUser: { ...changes, ...identity, emailAddress: ['ada@example.com'] },
  getUser: user,
  listUsers: { ...page, orderBy: '-createdAt', emailAddress: 'ada@example.com', banned: false },
  updateUser: { ...user, ...changes },
  countUsers: { query: 'ada' },
  createOrganization: { name: 'Acme', slug: 'acme', createdBy: 'user_1', ...limits },
  listOrganizations: { ...page, includeMembersCount: true },
  deleteUser: user,
}
const period = { fromDate: '2026-11-01', toDate: '2026-11-20' }
const functions: Record<string, Record<string, object>> = {
  mailer: {
    sendEmail: withFile,
    send: { to: 'ada@example.com', subject: 'Hi', body: 'x' },
    sendEmails: { messages: [message, withFile] },
    sendBatch: { to: ['a@example.com', 'b@example.com'], subject: 'Hi', textBody: 'x' },
    getDeliveryStats: { ...period, tag: 'welcome', messageStream: 'outbound' },
  },
  idp: ofUsers,
  'idp-server': ofUsers,
  auth: { unknown: {} },
}

const keysOf = (host: string, secretKey: string) => ({
  publishableKey: `pk_test_${btoa(`${host}$`)}`,
  secretKey,
})
const keys = keysOf('tenant.clerk.accounts.dev', credentials.tenantSecretKey)
const ownKeys = keysOf('shared.clerk.accounts.dev', credentials.secretKey)
const mailbox = { fromEmail: 'Shop <shop@example.com>', messageStream: 'outbound' }
const server = 'https://mail.example.com'
const account = { platformApiKey: credentials.tenantAccessToken, template: 'b2b-saas' }
const deployments: Record<string, { inputs: object; outputs?: object }> = {
  mailer: {
    inputs: { ...mailbox, serverType: 'dedicated', apiToken: '{{env.TENANT_MAIL_TOKEN}}', baseUrl: server },
    outputs: { ...mailbox, apiToken: credentials.tenantMailToken, apiUrl: server },
  },
  idp: {
    inputs: { ...keys, serverType: 'dedicated' },
    outputs: { ...keys, frontendApiUrl: 'https://tenant.clerk.accounts.dev' },
  },
  'idp-server': {
    inputs: { applicationName: 'Shop', environmentType: 'production', domain: 'example.com', ...account },
    outputs: { ...ownKeys, applicationId: 'app_1', instanceId: 'ins_1', frontendApiUrl: 'https://a.example' },
  },
}

for (const { definition, inputs } of samples) {
  deployments[definition.name] = { inputs }
  functions[definition.name] = Object.fromEntries(
    Object.entries(definition.functions).flatMap(([name, { aliases = [], arguments: schema }]) =>
      [name, ...aliases].map((each) => [each, exampleOf(schema)]),
    ),
  )
}

export const validEvents = routes.flatMap((route) => {
  const calls = Object.entries(functions[route] ?? {}).map(([name, args]) => ({ name, arguments: args }))
  const deployment = { id: 'dep_1', inputs: {}, outputs: {}, ...deployments[route] }
  const download = { id: 'dl_1', file: '.env.local' }
  return eventNames.flatMap((name) =>
    (name === 'FUNCTION_CALL' ? calls : [undefined]).map((functionCall) => {
      const envelope = { id: 'evt_1', name, timestamp: '2026-11-20T09:00:00Z', challenge: 'c_1' }
      return { route, event: { ...envelope, deployment, download, functionCall } }
    }),
  )
})
