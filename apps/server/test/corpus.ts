/** One valid event for each event and each function name of each route. The suites change parts of them. */
import { eventNames, exampleOf } from '@org/core/hosting'
import { builtin } from '../src/integrations.ts'
import { credentials, samples } from './hosted.ts'

export const routes = builtin.map(({ name }) => name)

const addresses = {
  to: ['ada@example.com', 'Bob <bob@example.com>'],
  from: 'Shop <shop@example.com>',
  cc: 'cc@example.com',
  bcc: ['bcc@example.com'],
  replyTo: 'reply@example.com',
}
const marks = { tag: 'welcome', headers: { 'X-Campaign': 'one' }, metadata: { order: '7' }, trackOpens: true }
const bodies = {
  subject: 'canary subject',
  htmlBody: '<p>Hi</p>',
  textBody: 'canary words',
  messageStream: 'outbound',
}
const attachments = [{ name: 'a.txt', content: 'aGk=', contentType: 'text/plain' }]
const slim = { ...addresses, ...bodies, ...marks }

const names = { firstName: 'Ada', lastName: 'CanarySurname' }
const password = { password: 'canary-password "\\é', skipPasswordChecks: true }
const publicMetadata = { plan: 'gold' }
const privateMetadata = { nested: { list: [1, null, true] } }
const changes = { ...names, ...password, publicMetadata, privateMetadata, unsafeMetadata: {} }
const limits = { maxAllowedMemberships: 5, publicMetadata: {} }
const page = { query: 'ada', limit: 5, offset: 0 }
const ofUsers = {
  createUser: {
    ...changes,
    username: 'ada_lovelace',
    externalId: '7',
    emailAddress: ['ada@example.com'],
    phoneNumber: '+15555550123',
  },
  getUser: { userId: 'user_1' },
  listUsers: { ...page, orderBy: '-createdAt', emailAddress: 'ada@example.com', banned: false },
  updateUser: { userId: 'user_1', ...changes },
  countUsers: { query: 'ada' },
  createOrganization: { name: 'Acme', slug: 'acme', createdBy: 'user_1', ...limits },
  listOrganizations: { ...page, includeMembersCount: true },
  deleteUser: { userId: 'user_1' },
}
const period = { fromDate: '2026-11-01', toDate: '2026-11-20' }
const functions: Record<string, Record<string, object>> = {
  mailer: {
    sendEmail: { ...slim, attachments },
    send: { to: 'ada@example.com', subject: 'Hi', body: 'x' },
    sendEmails: { messages: [slim, { ...slim, attachments }] },
    sendBatch: { to: ['a@example.com', 'b@example.com'], subject: 'Hi', textBody: 'x' },
    getDeliveryStats: { ...period, tag: 'welcome', messageStream: 'outbound' },
  },
  idp: ofUsers,
  'idp-server': ofUsers,
  ...Object.fromEntries(
    samples.map(({ definition: { name, functions } }) => [
      name,
      Object.fromEntries(
        Object.entries(functions).flatMap(([called, { aliases = [], arguments: schema }]) =>
          [called, ...aliases].map((each) => [each, exampleOf(schema)]),
        ),
      ),
    ]),
  ),
}

const keysOf = (host: string, secretKey: string) => ({
  publishableKey: `pk_test_${btoa(`${host}$`)}`,
  secretKey,
})
const keys = keysOf('tenant.clerk.accounts.dev', credentials.tenantSecretKey)
const ownKeys = keysOf('shared.clerk.accounts.dev', credentials.secretKey)
const mailbox = { fromEmail: 'Shop <shop@example.com>', messageStream: 'outbound' }
const deployments: Record<string, { inputs: object; outputs?: object }> = {
  ...Object.fromEntries(samples.map(({ definition, inputs }) => [definition.name, { inputs }])),
  mailer: {
    inputs: {
      ...mailbox,
      serverType: 'dedicated',
      apiToken: '{{env.TENANT_MAIL_TOKEN}}',
      baseUrl: 'https://mail.example.com',
    },
    outputs: { ...mailbox, apiToken: credentials.tenantMailToken, apiUrl: 'https://mail.example.com' },
  },
  idp: {
    inputs: { ...keys, serverType: 'dedicated' },
    outputs: { ...keys, frontendApiUrl: 'https://tenant.clerk.accounts.dev' },
  },
  'idp-server': {
    inputs: {
      applicationName: 'Shop',
      platformApiKey: credentials.tenantAccessToken,
      environmentType: 'production',
      domain: 'example.com',
      template: 'b2b-saas',
    },
    outputs: { ...ownKeys, applicationId: 'app_1', instanceId: 'ins_1', frontendApiUrl: 'https://a.example' },
  },
}

const callsOf = (route: string) =>
  Object.entries(functions[route] ?? { unknown: {} }).map(([name, args]) => ({ name, arguments: args }))

export const validEvents = routes.flatMap((route) =>
  eventNames.flatMap((name) =>
    (name === 'FUNCTION_CALL' ? callsOf(route) : [undefined]).map((functionCall) => ({
      route,
      event: {
        id: 'evt_1',
        name,
        timestamp: '2026-11-20T09:00:00Z',
        deployment: { id: 'dep_1', inputs: {}, outputs: {}, ...deployments[route] },
        challenge: 'c_1',
        download: { id: 'dl_1', file: '.env.local' },
        functionCall,
      },
    })),
  ),
)
