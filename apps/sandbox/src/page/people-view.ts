/** People: the users and organizations of each instance of the identity provider. */
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import type { PageContext } from './context.ts'
import { card, clock, empty, type Html, hint, type View } from './html.ts'

const MOST_ROWS = 200

export function peopleView(context: PageContext): View {
  const instances = instancesOf(context)
  const none = empty('The identity provider is real', 'Its own dashboard shows its users.')
  return {
    title: 'People',
    lead: 'Users and organizations at the identity provider, by application.',
    body: html`<div id="people" data-live>${instances.length === 0 ? none : instances.map(instanceCard)}</div>`,
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
      instances.map((instance) => ({ title: name, id: applicationId, route: 'idp-server', instance })),
    ),
    ...(shared ? [{ title: 'The shared application', id: shared.id, route: 'idp', instance: shared }] : []),
  ]
}

function instanceCard({ title, id, route, instance }: ReturnType<typeof instancesOf>[number]): Html {
  const { users, organizations, members, environmentType } = instance
  const create = (name: string, label: string) =>
    html`<a href="/functions?route=${route}&function=${name}">${label}</a>`
  const userRows = newest(users).map((user) => [
    html`${[user.first_name, user.last_name].filter(Boolean).join(' ') || '–'} ${user.banned && html`<span class="tag">banned</span>`}`,
    user.email_addresses.map((one) => one.email_address).join(', ') || '–',
    html`<code>${user.id}</code>`,
    clock(user.created_at),
  ])
  const organizationRows = newest(organizations).map((one) => [
    one.name,
    one.slug,
    html`<code>${one.id}</code>`,
    members.get(one.id)?.size ?? 0,
    clock(one.created_at),
  ])
  const some = Math.max(users.size, organizations.size) > MOST_ROWS
  return card(
    title,
    html`<h3>${plural(users.size, 'user')}</h3>
    ${table('Users', ['Name', 'Address', 'Id', 'Created'], userRows, html`Nobody yet. ${create('createUser', 'Create a user')}.`)}
    <h3>${plural(organizations.size, 'organization')}</h3>
    ${table('Organizations', ['Name', 'Slug', 'Id', 'Members', 'Created'], organizationRows, html`None yet. ${create('createOrganization', 'Create an organization')}.`)}
    ${some && hint(`The newest ${MOST_ROWS} are shown.`)}`,
    html`<span class="tag">${environmentType}</span> <code class="muted">${id}</code>`,
  )
}

function table(label: string, columns: string[], rows: unknown[][], none: Html): Html {
  if (rows.length === 0) return hint(none)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table>
    <thead><tr>${columns.map((title) => html`<th>${title}</th>`)}</tr></thead>
    <tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>`
}

function newest<Item>(items: ReadonlyMap<string, Item>): Item[] {
  return [...items.values()].slice(-MOST_ROWS).reverse()
}
