/**
 * One valid event for each event and each function name of each route. The suites change parts of them.
 */
import { eventNames } from '@org/core/internal'
import { credentials } from './hosted.ts'

export const routes = ['auth', 'idp', 'idp-server', 'mailer'] as const

const mail = {
  to: ['ada@example.com', 'Bob <bob@example.com>'],
  subject: 'Hello',
  htmlBody: '<p>Hi</p>',
  textBody: 'Hi',
  from: 'Shop <shop@example.com>',
  cc: 'cc@example.com',
  bcc: ['bcc@example.com'],
  replyTo: 'reply@example.com',
  tag: 'welcome',
  messageStream: 'outbound',
  headers: { 'X-Campaign': 'one' },
  metadata: { order: '7' },
  attachments: [{ name: 'a.txt', content: 'aGk=', contentType: 'text/plain' }],
  trackOpens: true,
}
const { attachments: _, ...slim } = mail
const changes = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  username: 'ada',
  password: 'correct horse battery staple',
  externalId: '7',
  publicMetadata: { plan: 'gold' },
  privateMetadata: { nested: { list: [1, null, true] } },
  unsafeMetadata: {},
  skipPasswordChecks: true,
}
const page = { query: 'ada', limit: 5, offset: 0 }
const ofUsers = {
  createUser: { ...changes, emailAddress: ['ada@example.com'], phoneNumber: '+15555550123' },
  getUser: { userId: 'user_1' },
  listUsers: { ...page, orderBy: '-created_at', emailAddress: 'ada@example.com', banned: false },
  updateUser: { userId: 'user_1', ...changes },
  deleteUser: { userId: 'user_1' },
  countUsers: { query: 'ada' },
  createOrganization: {
    name: 'Acme',
    slug: 'acme',
    createdBy: 'user_1',
    maxAllowedMemberships: 5,
    publicMetadata: {},
  },
  listOrganizations: { ...page, includeMembersCount: true },
}
const period = { fromDate: '2026-11-01', toDate: '2026-11-20' }
const functions: Record<string, Record<string, object>> = {
  mailer: {
    sendEmail: mail,
    send: { to: 'ada@example.com', subject: 'Hi', body: 'x' },
    sendEmails: { messages: [slim, mail] },
    sendBatch: { to: ['a@example.com', 'b@example.com'], subject: 'Hi', textBody: 'x' },
    getDeliveryStats: { ...period, tag: 'welcome', messageStream: 'outbound' },
  },
  idp: ofUsers,
  'idp-server': ofUsers,
}

const frontendApiUrl = 'https://tenant.clerk.accounts.dev'
const publishableKey = `pk_test_${btoa('tenant.clerk.accounts.dev$')}`
const keys = { publishableKey, secretKey: credentials.tenantSecretKey }
const mailbox = { fromEmail: 'Shop <shop@example.com>', messageStream: 'outbound' }
const deployments: Record<string, { inputs: object; outputs: object }> = {
  mailer: {
    inputs: {
      ...mailbox,
      serverType: 'dedicated',
      apiToken: '{{env.TENANT_MAIL_TOKEN}}',
      baseUrl: 'https://mail.example.com/api',
    },
    outputs: { ...mailbox, apiToken: credentials.tenantMailToken, apiUrl: 'https://mail.example.com' },
  },
  idp: { inputs: { ...keys, serverType: 'dedicated' }, outputs: { ...keys, frontendApiUrl } },
  'idp-server': {
    inputs: {
      applicationName: 'Shop',
      platformApiKey: credentials.tenantAccessToken,
      environmentType: 'production',
      domain: 'example.com',
      template: 'b2b-saas',
    },
    outputs: { ...keys, applicationId: 'app_1', instanceId: 'ins_1', frontendApiUrl },
  },
}

export const validEvents = routes.flatMap((route) =>
  eventNames.flatMap((name) => {
    const calls = Object.entries(functions[route] ?? {}).map(([called, args]) => ({
      name: called,
      arguments: args,
    }))
    return (name === 'FUNCTION_CALL' ? calls : [undefined]).map((functionCall) => ({
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
    }))
  }),
)
