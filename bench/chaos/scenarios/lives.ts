import { outerFaults, workspaceOf } from '../../../packages/core/test/lives/events.ts'
import { type World as Lives, runLives } from '../../../packages/core/test/lives/lives.ts'
import { Provisioned } from '../../../packages/core/test/lives/provisioned.ts'
import { timesSent } from '../checks.ts'
import { addressOf } from '../events.ts'
import type { Scenario } from '../scenario.ts'
import { arranged, type World } from '../world.ts'

const LIVES_PER_SEED = 20

export const lives: Scenario = {
  name: 'lives',
  shows: 'random lives of deployments on idp-server and mailer agree with a model of the contract',
  run: ({ figures, violations }, { seed, seeds }) =>
    arranged({ store: 'sqlite', hosts: [{ CHAOS_SETTLE_MS: '600000' }] }, async (world) => {
      figures.lives = LIVES_PER_SEED * seeds
      try {
        const answers = await runLives(createLives(world), { seed, numRuns: LIVES_PER_SEED * seeds })
        figures.answers = [...answers].join(', ')
      } catch (error) {
        violations.push(error instanceof Error ? `${error.message}\n${error.cause}` : String(error))
      }
    }),
}

function createLives({ platform, idp, mail, sender, journal }: World): Lives {
  let life = ''
  return {
    platform,
    faults: outerFaults('away', 'page'),
    Owning: Provisioned,

    begin(id) {
      life = id
      Provisioned.living.length = 0
      const tokens = ['A', 'A2', 'B'].map((token) => [`ak_${id}_${token}`, workspaceOf(token)] as const)
      idp.settings.workspaces = { ak_emulated: 'host', ...Object.fromEntries(tokens) }
      idp.settings.accessTokens = Object.keys(idp.settings.workspaces)
      mail.settings.apiTokens = ['shared-token', 'mail_A', 'mail_A2']
    },

    inputsOf(route, { name, token, plan }, id) {
      const isOwn = token !== 'host'
      if (route === 'connected') {
        const server = isOwn && { serverType: 'dedicated', apiToken: `mail_${token}` }
        return { ...server, fromEmail: name ? addressOf(name) : 'nobody' }
      }
      const [environmentType, detail = 'one'] = plan.split(' ')
      return {
        applicationName: name && `${id} ${name}`,
        platformApiKey: isOwn ? `ak_${life}_${token}` : '',
        environmentType,
        ...(detail === 'waitlist' ? { template: detail } : { domain: `${detail}.${id}.example.com` }),
      }
    },

    callOf: (route, id) => {
      const user = { emailAddress: addressOf(crypto.randomUUID()), firstName: 'Ada', lastName: 'Lovelace' }
      const message = { to: addressOf(id), from: 'shop@example.com', subject: 'Hello', textBody: 'Hello.' }
      if (route === 'owning') return { name: 'createUser', arguments: user }
      return { name: 'sendEmail', arguments: message }
    },

    send({ id, route, body }, { create }) {
      const cut = create === 'lost' ? 'before' : 'after'
      if (create) idp.faults.add({ method: 'POST', path: '/v1/platform/applications', cut })
      const delivery = { id, route: route === 'owning' ? 'idp-server' : 'mailer', event: body } as const
      return sender.once(delivery).finally(idp.faults.clear)
    },

    identify({ applicationId, fromEmail, apiToken }) {
      const token = String(apiToken).replace('shared-token', 'host').replace('mail_', '')
      return fromEmail ? `${String(fromEmail).split('@')[0]} ${token}` : applicationId
    },

    look(id) {
      const own = [...idp.applications.values()].filter(({ name }) => name.startsWith(`${id} `))
      const applications = own.map(({ applicationId, name, workspace, template, domain, instances }) => {
        const detail = domain?.split('.')[0] ?? template
        return {
          id: applicationId,
          name,
          workspace,
          plan: [instances[0]?.environmentType, detail].join(' ').trim(),
        }
      })
      const instances = own.flatMap((application) => application.instances)
      const users = instances.flatMap((one) => [...(idp.backend.instances.get(one.id)?.users.keys() ?? [])])
      return { applications, effects: timesSent({ journal }, id) + users.length }
    },

    removeApplication: idp.removeApplication,
  }
}
