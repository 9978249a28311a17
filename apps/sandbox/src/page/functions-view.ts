/** Functions: a form for each, from its JSON Schema, and the result of the call. */
import type { IdpInstance } from '@org/idp/testing'
import { html } from 'hono/html'
import type { PageContext } from './context.ts'
import { empty, type Html, type Query, tabs, type View } from './html.ts'
import { schemaFields, sendForm } from './schema-form.ts'

export function functionsView(context: PageContext, query: Query): View {
  const callable = context.manifests.filter(({ functions }) => Object.keys(functions).length > 0)
  const manifest = callable.find(({ name }) => name === query.route) ?? callable.at(-1)
  const names = Object.keys(manifest?.functions ?? {})
  const name = names.find((known) => known === query.function) ?? names[0] ?? ''
  const definition = manifest?.functions[name]
  if (!manifest || !definition)
    return { title: 'Functions', body: empty('There are no functions', 'No integration has any.') }
  const deployments = context
    .deployments()
    .filter(({ route, status }) => route === manifest.name && status !== 'stopped')
    .map(({ id }) => id)
  const deployment = deployments.find((id) => id === query.deployment) ?? deployments[0] ?? ''
  const values = { ...exampleOf(context, manifest.name, name, deployment) }
  return {
    title: 'Functions',
    lead: 'Other services call these functions through FUNCTION_CALL.',
    body: html`<div class="columns">
      <section class="card" aria-label="Call">
        ${tabs(
          'Integration',
          callable.map((one) => [one.name, `/functions?route=${one.name}`, one === manifest]),
        )}
        ${tabs(
          'Functions',
          names.map((one) => [
            one,
            `/functions?route=${manifest.name}&function=${one}&deployment=${deployment}`,
            one === name,
          ]),
        )}
        <h2><code>${name}</code></h2>
        <p class="hint">${definition.description} ${definition.effect ? 'It has an effect, once for each delivery id.' : 'It only reads.'}</p>
        ${sendForm(
          callForm(manifest.name, name, `Call ${name}`),
          html`${deploymentField(deployments, deployment, manifest.name)}
          <div class="fields">${schemaFields(definition.arguments, { prefix: 'argument', values })}</div>`,
        )}
      </section>
      <section class="card" aria-label="Result"><h2>Result</h2>
        <div id="call-result" class="result" aria-live="polite">${empty('No call yet', 'The response shows up here, with the calls to the provider.')}</div></section>
    </div>`,
  }
}

function deploymentField(deployments: readonly string[], chosen: string, route: string): Html {
  return html`<div class="field"><label for="call-deployment">Deployment</label>
    <select id="call-deployment" data-extra="event.deployment.id">
      ${deployments.map((id) => html`<option ${id === chosen ? html`selected` : ''}>${id}</option>`)}
      <option value="" ${chosen === '' ? html`selected` : ''}>none: the host’s shared credentials</option>
    </select>${
      deployments.length === 0 && route === 'idp-server'
        ? html`<p class="hint">It needs a deployment: <a href="/deployments?new=${route}">create one</a>.</p>`
        : ''
    }</div>`
}

/** The options of a form that calls a function. */
export function callForm(route: string, name: string, button: string): Parameters<typeof sendForm>[0] {
  const body = { route, event: { name: 'FUNCTION_CALL', functionCall: { name } } }
  return { action: 'event', body, path: 'functionCall.arguments', target: '#call-result', button }
}

/** A first mail. */
export function exampleMail({ world }: PageContext): Record<string, string> {
  return {
    to: world.mail.to,
    subject: 'Your order is on its way',
    htmlBody: '<h1>Hello Ada,</h1>\n<p>your order left the house today.</p>',
  }
}

/** Arguments that work, so that one click is enough. */
function exampleOf(context: PageContext, route: string, name: string, deployment: string): object {
  const users = [...(instanceOf(context, route, deployment)?.users.keys() ?? [])]
  const newest = users.length > 0 ? { userId: users.at(-1) } : {}
  const to = [context.world.mail.to, 'grace@example.com']
  const number = users.length === 0 ? '' : `-${users.length + 1}`
  const examples: Record<string, object> = {
    sendEmail: exampleMail(context),
    sendEmails: { to, subject: 'News from the shop', textBody: 'There is something new.' },
    createUser: { emailAddress: `ada${number}@example.com`, firstName: 'Ada', lastName: 'Lovelace' },
    getUser: newest,
    updateUser: { ...newest, firstName: 'Augusta' },
    deleteUser: newest,
    createOrganization: { name: 'Analytical Engines' },
  }
  return examples[name] ?? {}
}

/** The emulated instance of a deployment. */
function instanceOf({ world }: PageContext, route: string, deployment: string): IdpInstance | undefined {
  if (route === 'idp') return world.idp.emulator?.instance
  const secretKey = String(world.platform.deployments.get(deployment)?.outputs.secretKey)
  return world.idpServer.emulator?.backend.findInstance(secretKey)
}
