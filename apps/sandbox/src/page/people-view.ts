/**
 * People: the users and organizations of each instance of the identity provider.
 *
 * @module
 */
import type { IdpInstance } from '@org/idp/testing'
import { html } from 'hono/html'
import type { PageContext } from './context.ts'
import { clock, count, empty, type Html } from './html.ts'
import type { View } from './layout.ts'

const MOST_ROWS = 200

/** The view. */
export function peopleView(context: PageContext): View {
  const instances = instancesOf(context)
  return {
    title: 'People',
    lead: 'Users and organizations at the identity provider, by application.',
    body: html`<div id="people" data-live>${
      instances.length === 0
        ? empty('The identity provider is the real one', 'Its own dashboard shows who is there.')
        : instances.map(instanceCard)
    }</div>`,
  }
}

/** How many users there are in all. */
export function peopleCount(context: PageContext): number {
  return instancesOf(context).reduce((sum, { instance }) => sum + instance.users.size, 0)
}

interface Shown {
  title: string
  hint: string
  route: string
  instance: IdpInstance
}

function instancesOf({ world }: PageContext): Shown[] {
  const shared = world.idp.emulator?.instance
  const applications = [...(world.idpServer.emulator?.applications.values() ?? [])].reverse()
  return [
    ...applications.flatMap(({ name, applicationId, instances }) =>
      instances.map((instance) => ({ title: name, hint: applicationId, route: 'idp-server', instance })),
    ),
    ...(shared ? [{ title: 'The shared application', hint: shared.id, route: 'idp', instance: shared }] : []),
  ]
}

function instanceCard({ title, hint, route, instance }: Shown): Html {
  const { users, organizations, environmentType, id } = instance
  return html`<section class="card" aria-label="${title}">
    <header class="card-title"><h2>${title}</h2><span class="tag">${environmentType}</span> <code class="muted">${hint}</code></header>
    <h3>${count(users.size, 'user')}</h3>
    ${users.size === 0 ? html`<p class="hint">Nobody yet. <a href="/functions?route=${route}&function=createUser">Create a user</a>.</p>` : userTable(instance)}
    <h3>${count(organizations.size, 'organization')}</h3>
    ${organizations.size === 0 ? html`<p class="hint">None yet. <a href="/functions?route=${route}&function=createOrganization">Create one</a>.</p>` : organizationTable(instance)}
    ${users.size > MOST_ROWS || organizations.size > MOST_ROWS ? html`<p class="hint" id="more-${id}">The newest ${MOST_ROWS} are shown.</p>` : ''}
  </section>`
}

function userTable({ users }: IdpInstance): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Users"><table><thead><tr><th>Name</th><th>Address</th><th>Id</th><th>Created</th></tr></thead><tbody>
    ${newest(users).map(
      ({
        id,
        first_name,
        last_name,
        email_addresses,
        created_at,
        banned,
      }) => html`<tr><td>${[first_name, last_name].filter(Boolean).join(' ') || '–'} ${banned ? html`<span class="tag">banned</span>` : ''}</td>
      <td>${email_addresses.map((one) => one.email_address).join(', ') || '–'}</td><td><code>${id}</code></td><td>${clock(created_at)}</td></tr>`,
    )}</tbody></table></div>`
}

function organizationTable({ organizations, members }: IdpInstance): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Organizations"><table><thead><tr><th>Name</th><th>Slug</th><th>Id</th><th>Members</th><th>Created</th></tr></thead><tbody>
    ${newest(organizations).map(
      ({ id, name, slug, created_at }) =>
        html`<tr><td>${name}</td><td>${slug}</td><td><code>${id}</code></td><td class="figure">${members.get(id)?.size ?? 0}</td><td>${clock(created_at)}</td></tr>`,
    )}</tbody></table></div>`
}

function newest<Item>(items: ReadonlyMap<string, Item>): Item[] {
  return [...items.values()].slice(-MOST_ROWS).reverse()
}
