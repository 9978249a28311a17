/**
 * The list of the timeline: of thousands of events, only those near the window are in the page. Events form blocks
 * of fixed heights; a block is filled when it comes near, and emptied when it is far away.
 *
 * @module
 */

const list = document.querySelector('#rows')
const split = document.querySelector('#split')
const detail = document.querySelector('#detail-body')
const filter = document.querySelector('#filter')
const shown = document.querySelector('#shown')
const nothing = document.querySelector('#no-rows')
const BLOCK = Number(list.dataset.block)
const MOST_CALLS = 13

/** The number of rows for the calls of each event, by the number of the event. */
let rows = new Map()
/** The blocks, by their number. */
const blocks = new Map()
let chosen
let rereading
let asked = 0
/** Changes since the last request for the index, whose response may be older. */
let meanwhile = new Map()

const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      const block = blocks.get(Number(target.dataset.block))
      if (!block) continue
      block.near = isIntersecting
      if (isIntersecting) fill(block)
      else empty(block)
    }
  },
  { root: list, rootMargin: '800px 0px' },
)

for (const element of list.querySelectorAll('.block')) {
  adopt(element, Number(element.dataset.block)).filled = true
}
document.addEventListener('sandbox:connect', reread)
document.addEventListener('sandbox:change', ({ detail: { entries } }) => {
  if (entries.length > 0) take(entries)
})
await readIndex()
const opened = new URL(location.href).searchParams.get('event')
if (opened) choose(Number(opened), false)

function query() {
  const fields = [...new FormData(filter)].filter(([, value]) => value !== '')
  return new URLSearchParams(fields)
}

/** Reads the index of the filtered events. */
async function readIndex() {
  asked += 1
  const own = asked
  meanwhile = new Map()
  const index = await fetch(`/timeline/index?${query()}`).then((response) => response.json())
  // Responses may arrive in another order.
  if (own !== asked) return
  rows = new Map([...index, ...meanwhile])
  layOut()
}

function reread() {
  if (rereading !== undefined) return
  rereading = setTimeout(async () => {
    rereading = undefined
    await readIndex()
    for (const block of blocks.values()) outdate(block)
  }, 200)
}

/** Adds changed events. With a filter, only the sandbox can select them. */
function take(entries) {
  const own = entries.some(([number]) => number === chosen)
  if (own) showDetail(chosen)
  if ([...query().keys()].length > 0) return reread()
  const touched = new Set()
  for (const [number, calls, source] of entries) {
    if (source === 'walk') continue
    rows.set(number, Math.min(calls, MOST_CALLS))
    meanwhile.set(number, Math.min(calls, MOST_CALLS))
    touched.add(Math.floor(number / BLOCK))
  }
  layOut(touched)
  for (const number of touched) outdate(blocks.get(number))
}

/** Gives each block its height, newest first, and removes empty blocks. */
function layOut(only) {
  const style = getComputedStyle(list)
  // The heights are in rem, so that they grow with the text size.
  const unit = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
  const height = (name) => Number.parseFloat(style.getPropertyValue(name)) * unit
  const [event, call, gap] = [height('--event-row'), height('--call-row'), height('--entry-gap')]
  const heights = new Map()
  for (const [number, calls] of rows) {
    const block = Math.floor(number / BLOCK)
    if (only && !only.has(block)) continue
    heights.set(block, (heights.get(block) ?? 0) + event + call * calls + gap)
  }
  if (!only) {
    for (const [number, block] of blocks) {
      if (heights.has(number)) continue
      observer.unobserve(block.element)
      block.element.remove()
      blocks.delete(number)
    }
  }
  for (const [number, pixels] of [...heights].sort(([a], [b]) => b - a)) {
    const block = blocks.get(number) ?? insert(number)
    block.element.style.height = `${pixels}px`
  }
  nothing.hidden = rows.size > 0
  shown.textContent = `${rows.size.toLocaleString('en-US')} ${rows.size === 1 ? 'event' : 'events'}`
}

function insert(number) {
  const element = document.createElement('ol')
  element.className = 'rows block'
  element.dataset.block = String(number)
  const older = [...blocks.keys()].filter((other) => other < number).sort((a, b) => b - a)[0]
  list.insertBefore(element, blocks.get(older)?.element ?? nothing)
  return adopt(element, number)
}

function adopt(element, number) {
  const block = { number, element, filled: false, near: false, asking: false, outdated: false }
  blocks.set(number, block)
  observer.observe(element)
  return block
}

function outdate(block) {
  if (!block) return
  block.outdated = true
  if (block.near) fill(block)
  else if (block.filled) empty(block)
}

async function fill(block) {
  if (block.asking || (block.filled && !block.outdated)) return
  block.asking = true
  block.outdated = false
  try {
    const response = await fetch(`/timeline/block/${block.number}?${query()}`)
    const html = await response.text()
    // The block may be far away by now.
    if (response.ok && block.near) {
      const focused = block.element.contains(document.activeElement)
        ? document.activeElement.getAttribute('href')
        : null
      block.element.innerHTML = html
      block.filled = true
      mark(block.element)
      if (focused)
        block.element.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true })
    }
  } finally {
    block.asking = false
    if (block.outdated && block.near) setTimeout(() => fill(block), 100)
  }
}

function empty(block) {
  block.element.replaceChildren()
  block.filled = false
}

list.addEventListener('click', (event) => {
  const row = event.target.closest('[data-open]')
  if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  choose(Number(row.dataset.open), true, row.dataset.call)
})

function choose(number, remember, call) {
  chosen = number
  split.classList.add('opened')
  if (remember) {
    const url = new URL(location.href)
    url.searchParams.set('event', number)
    if (call === undefined) url.searchParams.delete('call')
    else url.searchParams.set('call', call)
    history.replaceState(null, '', url)
    showDetail(number, call)
  }
  mark(list)
}

async function showDetail(number, call) {
  const open = call === undefined ? [...detail.querySelectorAll('details[open]')].map(({ id }) => id) : []
  const again = detail.querySelector('#again')?.cloneNode(true)
  const same = detail.dataset.number === String(number)
  const response = await fetch(`/timeline/event/${number}${call === undefined ? '' : `?call=${call}`}`)
  if (number !== chosen) return
  detail.innerHTML = await response.text()
  detail.dataset.number = String(number)
  if (same) {
    if (again) detail.querySelector('#again')?.replaceWith(again)
    for (const id of open) document.getElementById(id)?.setAttribute('open', '')
  } else detail.parentElement.scrollTop = 0
  if (call !== undefined) document.getElementById(`call-${call}`)?.scrollIntoView({ block: 'nearest' })
}

function mark(root) {
  for (const row of root.querySelectorAll('.event-row, .call-row')) {
    const current = Number(row.dataset.open) === chosen && row.classList.contains('event-row')
    if (current) row.setAttribute('aria-current', 'true')
    else row.removeAttribute('aria-current')
  }
}

document.querySelector('#close-detail').addEventListener('click', () => {
  split.classList.remove('opened')
  list.querySelector(`[data-open="${chosen}"]`)?.focus()
})

filter.addEventListener('submit', (event) => event.preventDefault())
filter.addEventListener('input', () => {
  const event = new URL(location.href).searchParams.get('event')
  const parameters = query()
  if (event) parameters.set('event', event)
  history.replaceState(null, '', `?${parameters}`)
  list.scrollTop = 0
  reread()
})

list.addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  event.preventDefault()
  const all = [...list.querySelectorAll('[data-open]')]
  const next = all[all.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)]
  next?.focus()
})

// The heights of the rows depend on the width of the window.
let width = innerWidth
addEventListener('resize', () => {
  if (width === innerWidth) return
  width = innerWidth
  layOut()
})
