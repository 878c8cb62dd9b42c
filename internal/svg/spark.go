package svg

// sparkPoints is the most runs a sparkline shows: the newest.
const sparkPoints = 60

// Spark draws the course of a series as a small line for a list, the newest
// point marked. Its scale follows the rule of [Trend]. title is its accessible
// name. It fails on NaN and infinities and without points.
func Spark(points []Point, title string) (string, error) {
	const width, height = 100, 24
	points = points[max(len(points)-sparkPoints, 0):]
	for i, p := range points {
		p.Run = i
		if err := checkPoint(p, len(points)); err != nil {
			return "", err
		}
	}
	a, err := newAxis(points, "", 3, height-3)
	if err != nil {
		return "", err
	}
	var d doc
	d.WriteString(`<svg class="spark" viewBox="0 0 100 24" role="img"><title>`)
	d.text(title)
	d.WriteString("</title>")
	var line, last path
	step := (width - 8.0) / float64(max(len(points)-1, 1))
	x := func(i int) float64 { return width - 4 - float64(len(points)-1-i)*step }
	for i, p := range points {
		if i == 0 {
			line.moveTo(x(i), a.y(p.Value))
		} else {
			line.lineTo(x(i), a.y(p.Value))
		}
	}
	if len(points) > 1 {
		d.path("line", &line)
	}
	last.dot(x(len(points)-1), a.y(points[len(points)-1].Value))
	d.path("last", &last)
	d.WriteString("</svg>")
	return d.String(), nil
}
