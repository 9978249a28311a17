/** Asks before an action that cannot be undone. The answer is never at the place of the button. */

/** Shows a question with the name of the action, and waits for the answer. */
export function confirmed(question, action) {
  const dialog = document.createElement('dialog')
  dialog.className = 'confirm'
  dialog.setAttribute('aria-label', question)
  dialog.innerHTML =
    '<p></p><form method="dialog" class="row"><button class="button" autofocus>Cancel</button><button class="button danger" value="yes"></button></form>'
  dialog.querySelector('p').textContent = question
  dialog.querySelector('.danger').textContent = action
  document.body.append(dialog)
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(dialog.returnValue === 'yes')
    })
  })
}
