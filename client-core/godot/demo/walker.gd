extends Node2D
## Shows one object: the world makes it, moves it, and frees it.

var kind := ""
var values := {}


## The object has come into sight.
func ambit_came(_id: int, its_kind: String, its_values: Dictionary) -> void:
	kind = its_kind
	ambit_changed(its_values)


## A component has changed.
func ambit_changed(its_values: Dictionary) -> void:
	values = its_values
