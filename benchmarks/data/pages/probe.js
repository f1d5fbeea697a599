// Reports what a page shows: each visible text and control, with its box in CSS pixels from the corner of the view.
(() => {
  const MARKS = [[10, 200, 30], [200, 10, 30], [30, 10, 200]];
  const CONTROLS = 'a[href],button,summary,textarea,[contenteditable=true],[role=button],[role=tab],[role=slider],'
    + 'select:not([multiple]):not([size]),input:not([type=hidden]):not([type=time]):not([type=datetime-local])';
  const drawn = one => getComputedStyle(one).visibility === 'visible' && !one.closest('[aria-hidden=true]')
    && ![...ancestors(one)].some(each => +getComputedStyle(each).opacity < 0.1);
  function* ancestors(one) { for (let each = one; each; each = each.parentElement) yield each; }
  const onTop = (box, one) => {
    const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return hit !== null && (hit === one || one.contains(hit));
  };
  const plain = text => (text || '').trim().replace(/\s+/g, ' ');
  const place = box => ({x: box.x, y: box.y, width: box.width, height: box.height});
  function* texts() {
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
    for (let text; (text = walk.nextNode());) {
      const around = text.parentElement, label = around.closest('label');
      if (around.closest('script,style,textarea,option') || !plain(text.data) || !drawn(around)) continue;
      range.selectNodeContents(text);
      const box = [...range.getClientRects()].find(each => each.width > 1 && each.height > 1);
      const counts = !around.closest('svg') && !(label && label.control);  // drawings; names of controls
      if (box && onTop(box, around)) yield {words: plain(text.data), counts, ...place(box)};
    }
    for (const list of document.querySelectorAll('select[multiple],select[size]')) {  // its entries are not compared
      yield {words: '', counts: false, ...place(list.getBoundingClientRect())};
    }
  }
  function* controls() {
    for (const one of document.querySelectorAll(CONTROLS)) {
      const box = one.getBoundingClientRect();
      if (box.width < 3 || box.height < 3 || !drawn(one) || !onTop(box, one)) continue;
      const label = one.labels && one.labels[0] ? one.labels[0].childNodes[0].textContent : '';
      const typed = /^(text|search|email|tel|url|number|textarea)$/.test(one.type);
      const chosen = one.type === 'select-one' && one.selectedOptions[0] ? one.selectedOptions[0].text : null;
      const tickable = /^(checkbox|radio)$/.test(one.type);
      yield {
        kind: one.getAttribute('role') || (one.localName === 'input' ? one.type : one.localName),
        name: plain(one.getAttribute('aria-label') || label || one.innerText || one.title),
        content: typed ? one.value : chosen, checked: tickable ? one.checked : null, disabled: !!one.disabled,
        ...place(box),
      };
    }
  }
  addEventListener('load', () => {
    const clock = document.getElementById('reward-display');  // of MiniWoB++; as it runs, what is below it moves
    if (clock) clock.style.display = 'none';
    setTimeout(() => window.core && core.startEpisodeReal(), 150);  // MiniWoB++ waits for a click on START
    setTimeout(() => {
      MARKS.forEach((color, at) => {
        const mark = document.createElement('div');
        mark.setAttribute('aria-hidden', 'true');
        mark.style.cssText = `position:fixed;left:${at}px;top:0;width:1px;height:1px;background:rgb(${color});`
          + 'z-index:2147483647;pointer-events:none';
        document.body.append(mark);
      });
      const found = {texts: [...texts()], controls: [...controls()]};
      fetch('/report', {method: 'POST', body: JSON.stringify(found)});
    }, 900);
  });
})();
