/** A promise that the test settles: something to wait at, or to wait for. */
export function gate<Value = void>() {
  let open: (value: Value) => void = () => {}
  const passed = new Promise<Value>((resolve) => {
    open = resolve
  })
  return { passed, open }
}
