/**
 * One stream for every tab: a browser opens at most six connections to a site, and each stream keeps one.
 *
 * @module
 */
const channel = new BroadcastChannel('changes')
let state = 'changed'

const source = new EventSource('/events')
source.addEventListener('message', () => channel.postMessage('changed'))
source.addEventListener('open', () => tell('open'))
source.addEventListener('error', () => tell('lost'))

/** A new tab learns the state at once. */
addEventListener('connect', ({ ports: [port] }) => port.postMessage(state))

function tell(now) {
  state = now
  channel.postMessage(now)
}
