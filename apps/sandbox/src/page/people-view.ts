/** People: the users and organizations of each instance of the identity provider. */
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import type { PageContext } from './context.ts'
import { clock, empty, type Html, table, type View } from './html.ts'

const MOST_ROWS = 200

export function peopleView(context: PageContext): View {
  const instances = instancesOf(context)
  return {
    title: 'People',
    lead: 'Users and organizations at the identity provider, by application.',
    body: html`<div id="people" data-live>${
      instances.length === 0
        ? empty('The identity provider is real', 'Its own dashboard shows its users.')
        : instances.map(instanceCard)
    }</div>`,
  }
}

/** The number of all users. */
export function peopleCount(context: PageContext): number {
  return instancesOf(context).reduce((sum, { instance }) => sum + instance.users.size, 0)
}

function instancesOf({ world }: PageContext) {
  const shared = world.idp.emulator?.instance
  const applications = [...(world.idpServer.emulator?.applications.values() ?? [])].reverse()
  return [
    ...applications.flatMap(({ name, applicationId, instances }) =>
      instances.map((instance) => ({ title: name, hint: applicationId, route: 'idp-server', instance })),
    ),
    ...(shared ? [{ title: 'The shared application', hint: shared.id, route: 'idp', instance: shared }] : []),
  ]
}

type Shown = ReturnType<typeof instancesOf>[number]

function instanceCard({ title, hint, route, instance }: Shown): Html {
  const { users, organizations, members, environmentType } = instance
  const userRows = newest(users).map((user) => [
    html`${[user.first_name, user.last_name].filter(Boolean).join(' ') || '–'} ${user.banned ? html`<span class="tag">banned</span>` : ''}`,
    user.email_addresses.map((one) => one.email_address).join(', ') || '–',
    html`<code>${user.id}</code>`,
    clock(user.created_at),
  ])
  const organizationRows = newest(organizations).map(({ id, name, slug, created_at }) => [
    name,
    slug,
    html`<code>${id}</code>`,
    members.get(id)?.size ?? 0,
    clock(created_at),
  ])
  const create = (none: string, name: string, label: string) =>
    html`<p class="hint">${none} yet. <a href="/functions?route=${route}&function=${name}">${label}</a>.</p>`
  return html`<section class="card" aria-label="${title}">
    <header class="card-title"><h2>${title}</h2><span class="tag">${environmentType}</span> <code class="muted">${hint}</code></header>
    <h3>${plural(users.size, 'user')}</h3>
    ${users.size === 0 ? create('Nobody', 'createUser', 'Create a user') : list('Users', ['Name', 'Address', 'Id', 'Created'], userRows)}
    <h3>${plural(organizations.size, 'organization')}</h3>
    ${
      organizations.size === 0
        ? create('None', 'createOrganization', 'Create an organization')
        : list('Organizations', ['Name', 'Slug', 'Id', 'Members', 'Created'], organizationRows)
    }
    ${Math.max(users.size, organizations.size) > MOST_ROWS ? html`<p class="hint">The newest ${MOST_ROWS} are shown.</p>` : ''}
  </section>`
}

function list(label: string, columns: string[], rows: unknown[][]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">${table(columns, rows)}</div>`
}

function newest<Item>(items: ReadonlyMap<string, Item>): Item[] {
  return [...items.values()].slice(-MOST_ROWS).reverse()
}
