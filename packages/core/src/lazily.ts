/** Makes a value when it is first needed, and once; again if the promise of it fails. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    if (made) return made.value
    const value = make()
    made = { value }
    if (value instanceof Promise) value.catch(() => (made = undefined))
    return value
  }
}
