/* Browsers start no workers from files. For pages that are opened from a folder, a hidden frame stands for one, so that the
   search works without a server. Elsewhere nothing is changed. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.waiting = []
      document.documentElement.appendChild(this.frame)
      const inside = this.frame.contentWindow
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      inside.importScripts = (...addresses) => addresses
        .map(each => new URL(each, address))
        .reduce((before, each) => before.then(() => load(inside.document, each)), Promise.resolve())
      load(inside.document, address).then(() => {
        const messages = this.waiting
        this.waiting = null
        messages.forEach(data => this.postMessage(data))
      })
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data)
      else this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }))
    }
    terminate() {
      this.frame.remove()
    }
  }
  const load = (document, address) => new Promise((done, failed) => {
    const script = document.createElement("script")
    script.src = address
    script.onload = done
    script.onerror = failed
    document.documentElement.appendChild(script)
  })
}
