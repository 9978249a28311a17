/** Eleven incidents: how each is caused, and what tells it. */
import { writeFileSync } from 'node:fs'
import { pause } from '../clock.ts'
import { created, sendEmail } from '../events.ts'
import { startRedis } from '../redis.ts'
import type { Stage } from './stage.ts'

export interface Incident {
  /** The alert that leads to it; others may fire too. */
  alert: string
  /** The words of a runbook’s command that name the cause. */
  says: RegExp
  /** A field that the command reads. @default reason */
  command?: 'deployment' | 'route'
  /** Prepares the stage, and returns what causes the incident. */
  prepare(stage: Stage): (() => unknown) | Promise<() => unknown>
  /** Further traffic while it lasts. */
  during?(stage: Stage): unknown
}

const expire = (variable: string) => async (stage: Stage) => {
  const way = await stage.putWayInFrontOf(variable)
  return () => way.break('expire')
}
/** Calls that take longer than a sender waits. */
const slow = (stage: Stage, to: 'idp' | 'mail') => () => {
  stage.outside.atStep = (step) => (step.to === to && step.when === 'before' ? pause(20_000) : undefined)
}

const noisy = { id: 'dep_noisy', inputs: { serverType: 'shared' } }

export const incidents: Record<string, Incident> = {
  'the certificate of the provider expires': {
    ...{ alert: 'EventsFail', says: /CERT_HAS_EXPIRED/ },
    prepare: expire('MAILER_API_BASE'),
  },
  'the name of the provider has no address': {
    ...{ alert: 'EventsFail', says: /(ENOTFOUND|EAI_AGAIN).*mail\.drill\.test/ },
    prepare(stage) {
      const hosts = `${stage.folder}/hosts`
      writeFileSync(hosts, '127.0.0.1 localhost mail.drill.test\n')
      stage.setUp = `mount --bind ${hosts} /etc/hosts`
      const { port } = new URL(`${stage.variables.MAILER_API_BASE}`)
      stage.variables.MAILER_API_BASE = `http://mail.drill.test:${port}`
      return () => writeFileSync(hosts, '127.0.0.1 localhost\n')
    },
  },
  'the certificate of the platform expires': {
    ...{ alert: 'CallbacksFail', says: /CERT_HAS_EXPIRED/ },
    prepare: expire('PLATFORM_API_URL'),
  },
  'the platform accepts calls and does not answer': {
    ...{ alert: 'CallbacksFail', says: /not answer|timed? ?out|timeout/i },
    prepare: (stage) => () => {
      stage.outside.atStep = ({ to }) => (to === 'platform' ? new Promise(() => {}) : undefined)
    },
  },
  'Redis halts': {
    ...{ alert: 'StoreNotWritable', says: /store is unreachable/ },
    async prepare(stage) {
      const redis = await startRedis()
      stage.onEnd(redis.close)
      stage.variables.DELIVERY_STORE = redis.url
      return redis.pause
    },
  },
  'the provider answers 500': {
    ...{ alert: 'EveryCallFails', says: /status 500/ },
    prepare: (stage) => () => stage.outside.mail.faults.add({ status: 500, times: Number.POSITIVE_INFINITY }),
  },
  'the token of the provider is revoked': {
    ...{ alert: 'SharedCredentialsRejected', says: /credentials_rejected/ },
    prepare: (stage) => () => {
      stage.outside.mail.settings.apiTokens = []
    },
  },
  'the clock of the sender is ten minutes ahead': {
    ...{ alert: 'SignaturesRefused', says: /invalid_signature.*clock/ },
    prepare: (stage) => () => {
      stage.clock.aheadMs = 600_000
    },
  },
  'the disk of the store is full': {
    ...{ alert: 'StoreNotWritable', says: /disk is full|ENOSPC/ },
    prepare(stage) {
      const data = `${stage.folder}/data`
      stage.setUp = `mkdir ${data} && mount -t tmpfs -o size=2m tmpfs ${data}`
      return () => stage.fill(data)
    },
  },
  'a storm of deployments': {
    ...{ alert: 'HostFull', command: 'route', says: /idp-server.*DEPLOYMENT_CREATED/ },
    prepare: (stage) => slow(stage, 'idp'),
    during(stage) {
      for (let count = 0; count < 60; count += 1) {
        const id = `dep_${crypto.randomUUID()}`
        stage.outside.platform.addDeployment({ id })
        stage.send('idp-server', created(id).event)
      }
    },
  },
  'one noisy tenant': {
    ...{ alert: 'OwnerFails', command: 'deployment', says: /dep_noisy/ },
    prepare: (stage) => slow(stage, 'mail'),
    during(stage) {
      const event = { ...sendEmail('mail').event, deployment: noisy }
      for (let count = 0; count < 20; count += 1) stage.send('mailer', event)
    },
  },
}
