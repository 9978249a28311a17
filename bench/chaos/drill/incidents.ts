/** Fifteen incidents: how each is caused, and what tells it. */
import { rmSync, truncateSync, writeFileSync } from 'node:fs'
import { pause } from '../../shared/clock.ts'
import { created, sendEmail } from '../events.ts'
import { startRedis } from '../redis.ts'
import type { Break } from '../way.ts'
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

const breakWay = (variable: string, kind: Break) => (stage: Stage) => stage.putInFrontOf(variable, kind)
/** Calls that take longer than a sender waits. */
const slow = (stage: Stage, to: 'idp' | 'mail') => () =>
  stage.onStep((step) => (step.to === to && step.when === 'before' ? pause(20_000) : undefined))

const noisy = { id: 'dep_noisy', inputs: { serverType: 'shared' } }

export const incidents: Record<string, Incident> = {
  'the certificate of the provider expires': {
    ...{ alert: 'EventsFail', says: /CERT_HAS_EXPIRED/ },
    prepare: breakWay('MAILER_API_BASE', 'expired'),
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
  'the provider refuses connections': {
    ...{ alert: 'EventsFail', says: /ECONNREFUSED/ },
    prepare: breakWay('MAILER_API_BASE', 'refused'),
  },
  'the certificate of the platform expires': {
    ...{ alert: 'CallbacksFail', says: /CERT_HAS_EXPIRED/ },
    prepare: breakWay('PLATFORM_API_URL', 'expired'),
  },
  'the host has no descriptors left': {
    ...{ alert: 'HostDown', says: /EMFILE/ },
    prepare(stage) {
      stage.setUp = 'ulimit -n 64'
      return () => stage.holdConnections(80)
    },
  },
  'the platform accepts calls and does not answer': {
    ...{ alert: 'CallbacksFail', says: /not answer|timed? ?out|timeout/i },
    prepare: (stage) => () =>
      stage.onStep(({ to }) => (to === 'platform' ? new Promise(() => {}) : undefined)),
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
    prepare: (stage) => () => stage.mail.faults.add({ status: 500, times: Number.POSITIVE_INFINITY }),
  },
  'the token of the provider is revoked': {
    ...{ alert: 'SharedCredentialsRejected', says: /credentials_rejected/ },
    prepare: (stage) => () => {
      stage.mail.settings.apiTokens = []
    },
  },
  'the clock of the sender is ten minutes ahead': {
    ...{ alert: 'SignaturesRefused', says: /invalid_signature.*clock/ },
    prepare: (stage) => () => {
      stage.signing.aheadMs = 600_000
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
        stage.platform.addDeployment({ id })
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
  'the platform signs with a secret that the host does not have': {
    ...{ alert: 'SignaturesRefused', says: /invalid_signature.*matches none/ },
    prepare: (stage) => () => {
      stage.signing.secret = `whsec_${btoa('the next secret of the platform')}`
    },
  },
  'the file of the store is empty after a restart': {
    ...{ alert: 'HostDown', says: /DELIVERY_STORE: .*it is empty/ },
    prepare: (stage) => async () => {
      await stage.kill()
      const file = `${stage.folder}/data/deliveries.db`
      for (const companion of ['-wal', '-shm']) rmSync(`${file}${companion}`, { force: true })
      truncateSync(file, 0)
      stage.start()
    },
  },
}
